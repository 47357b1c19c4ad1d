// Pages: which parts of a slide stand together, so that each page fits the screen.
//
// Text and code have one size, 24 px at 1280 x 720. Outputs are enlarged until they are
// as wide as the page, up to the size of the text; a picture or a widget that is higher
// than a page is made smaller, and a long listing goes on on the next page.

export const WIDTH = 1280;
export const HEIGHT = 720;
export const TEXT = 24; // px of body type, on a page of that size
const OUTPUT = 14; // px of body type in an output
const SMALLEST = 16; // px, below which a listing is not shrunk any more
const LEAST = 0.81; // of its size, below which code is not shrunk any more
const PICTURES = "img, svg, canvas, video, .jupyter-widgets, .widget-subarea";

// How much larger than 1280 x 720 a screen is.
export const scaleOf = (width, height) => Math.min(width / WIDTH, height / HEIGHT);

// Put parts on pages; a page is a list of {element, zoom, offset, height}.
//
// `element` is the part's node, visible and laid out at the width of the page; `room`
// is the page's height and `gap` what stands between two parts, in px.
export function pack(parts, room, gap) {
  const pages = [];
  let used = Infinity;
  for (const part of parts) {
    if (!heightOf(part.element)) continue;
    const { zoom, height } = sizeOf(part, room);
    if (height > room) {
      pages.push(...windows(part, zoom, height, room));
      used = Infinity;
    } else if (used + gap + height > room) {
      pages.push([{ ...part, zoom }]);
      used = height;
    } else {
      pages[pages.length - 1].push({ ...part, zoom });
      used += gap + height;
    }
  }
  return pages;
}

const heightOf = (element) => element.getBoundingClientRect().height;

const isPicture = (part) =>
  part.part === "output" && part.element.querySelector(PICTURES) !== null;

// The zoom of a part, and its height with it.
function sizeOf(part, room) {
  const scale = part.scale;
  const most = part.part === "output" ? (scale * TEXT) / OUTPUT : 1;
  const least = part.part === "output" ? (scale * SMALLEST) / OUTPUT : LEAST;
  let zoom = most;
  for (let attempt = 0; attempt < 4; attempt++) {
    setZoom(part.element, zoom);
    const wide = widthShare(part.element);
    const high = heightOf(part.element) / room;
    if (wide <= 1.001 && high <= 1) break;
    let next = zoom / Math.max(wide, isPicture(part) ? high : 1);
    if (!isPicture(part) && high > 1) next = Math.min(next, Math.max(zoom / high, least));
    if (next >= zoom) break;
    zoom = next * 0.999;
  }
  setZoom(part.element, zoom);
  const height = heightOf(part.element);
  setZoom(part.element, 1);
  return { zoom, height };
}

// How many times as wide as its place the content of a part is.
function widthShare(element) {
  const place = element.getBoundingClientRect();
  let share = 1;
  for (const line of element.querySelectorAll(".cm-line"))
    share = Math.max(share, line.scrollWidth / (line.clientWidth + 1));
  for (const inner of element.querySelectorAll("*:not(.cm-editor, .cm-editor *)")) {
    const { right, width } = inner.getBoundingClientRect();
    if (width > 0) share = Math.max(share, (right - place.left) / place.width);
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(inner).overflowX);
    if (scrolls && inner.clientWidth > 0)
      share = Math.max(share, inner.scrollWidth / (inner.clientWidth + 1));
  }
  return share;
}

export function setZoom(element, zoom) {
  element.style.zoom = zoom === 1 ? "" : String(zoom);
}

// A long part on several pages: each shows the lines from `offset` on.
function windows(part, zoom, height, room) {
  const line = lineHeight(part.element) * zoom;
  const step = Math.max(Math.floor(room / line), 1) * line;
  const pages = [];
  for (let offset = 0; offset < height - line / 2; offset += step)
    pages.push([{ ...part, zoom, offset: offset / zoom,
                  height: Math.min(step, height - offset) / zoom }]);
  return pages;
}

function lineHeight(element) {
  const text = element.querySelector("pre, code, p, td") ?? element;
  const found = parseFloat(getComputedStyle(text).lineHeight);
  return Number.isFinite(found) ? found : 20;
}
