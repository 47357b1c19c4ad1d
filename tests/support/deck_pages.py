"""Every page of a deck, as it is laid out in the browser."""

# Of each page: how far a part reaches beyond the screen, or is scrolled from where it
# should be; by how much text and code are shrunk; and the least size of a text.
LAID_OUT = """() => {
  const deck = document.querySelector(".ck-deck").deck;
  const box = deck.box.getBoundingClientRect();
  const pages = [];
  for (let slide = 0; slide < deck.slides.length; slide++) {
    deck.goTo(slide, 0);
    for (let page = 0; page < deck.pages.length; page++) {
      deck.show(page);
      const parts = [...deck.node.querySelectorAll(".ck-shown")];
      const edges = parts.map((part) => part.getBoundingClientRect());
      const texts = parts.filter((part) => part.matches(".jp-Cell-inputWrapper"));
      const prose = (part) => part.querySelector(".jp-MarkdownOutput");
      const isProse = (part) => prose(part) !== null;
      const zoomOf = (part) => Number(part.style.zoom || 1);
      const size = (part) => parseFloat(getComputedStyle(prose(part)).fontSize);
      pages.push({
        where: `${slide + 1}, page ${page + 1}`,
        below: Math.max(0, ...edges.map((edge) => edge.bottom - box.bottom)),
        right: Math.max(0, ...edges.map((edge) => edge.right - box.right)),
        parts: parts.length,
        astray: Math.max(0, ...deck.pages[page].filter((part) => part.height).map(
          ({ element, offset }) => Math.abs(element.scrollTop - offset))),
        prose: Math.min(1, ...texts.filter(isProse).map(zoomOf)),
        code: Math.min(1, ...texts.filter((part) => !isProse(part)).map(zoomOf)),
        text: Math.min(Infinity, ...texts.filter(isProse).map(size)),
      });
    }
  }
  return pages;
}"""
