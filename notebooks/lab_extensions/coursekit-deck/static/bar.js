// The line below a page: where it stands in the notebook, and buttons.
import { fullScreen } from "./keys.js";
import { titleOf } from "./slides.js";

const BUTTONS = [
  ["Previous page", "◀", "←", (deck) => deck.previous()],
  ["Next page", "▶", "→", (deck) => deck.next()],
  ["Run the cell", "Run", "r", (deck) => deck.run()],
  ["Show or hide the answers", "Answers", "a", (deck) => deck.answer()],
  ["Open the presenter's notes", "Notes", "n", (deck) => deck.notes.open()],
  ["Fill the screen", "Full screen", "f", fullScreen],
  ["Leave the slides", "Leave", "Esc", (deck) => deck.end()],
];

export class Bar {
  constructor(deck) {
    this.deck = deck;
    this.node = document.createElement("nav");
    this.node.className = "ck-deck-bar";
    this.node.setAttribute("aria-label", "Slides");
    this.where = document.createElement("span");
    this.where.setAttribute("role", "status");
    this.node.append(this.where, ...BUTTONS.map((button) => this.button(...button)));
    deck.node.append(this.node);
  }

  button(title, text, key, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = `${title} (${key})`;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", () => {
      action(this.deck);
      if (this.node.isConnected) this.deck.node.focus();
    });
    return button;
  }

  update() {
    const { slide, slides, page, pages } = this.deck.place;
    const part = pages > 1 ? `, page ${page} of ${pages}` : "";
    const title = titleOf(this.deck.current.section);
    this.where.textContent = `${title} · slide ${slide} of ${slides}${part}`;
  }
}
