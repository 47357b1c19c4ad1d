// Sizes: how large a part of a slide may be shown, and how high it is then.
//
// Text and code have one size, 24 px at 1280 x 720. Outputs are enlarged until they are
// as wide as the page, up to the size of the text, and a drawing that stands alone until
// it fills the page. Code, outputs and drawings may be shown somewhat smaller to share a
// page with what belongs to them.

export const WIDTH = 1280;
export const HEIGHT = 720;
export const TEXT = 24; // px of body type, on a page of that size
const OUTPUT = 14; // px of body type in an output
const SMALLEST = 16; // px, below which an output is not shrunk to share a page
const LEAST = 0.81; // of its size, below which code is not shrunk any more
const OF_CODE = [1, 0.95, 0.9]; // of its size, on a shared page
const SHARES = [...OF_CODE, 0.85]; // of an output's
const OF_PICTURE = [...SHARES, 0.8, 0.75]; // its lines are thick, and its letters few
const FINER = 0.97; // from one attempt to enlarge a picture to the next
const PICTURES = "img, svg, canvas, video";
const WIDGETS = ".jupyter-widgets, .widget-subarea";

// How much larger than 1280 x 720 a screen is.
export const scaleOf = (width, height) => Math.min(width / WIDTH, height / HEIGHT);

export const heightOf = (element) => element.getBoundingClientRect().height;

export function setZoom(element, zoom) {
  element.style.zoom = zoom === 1 ? "" : String(zoom);
}

// The sizes in which a part may be shown, {zoom, height} each, the largest first.
export function sizesOf(part, room) {
  const zooms = isDrawing(part) ? drawingZooms(part, room) : zoomsOf(part, room);
  const sizes = zooms.map((zoom) => {
    setZoom(part.element, zoom);
    return { zoom, height: heightOf(part.element) };
  });
  setZoom(part.element, 1);
  return sizes;
}

const holds = (part, selector) => part.element.querySelector(selector) !== null;

// Whether a text is a drawing and nothing else.
function isDrawing(part) {
  const shown = part.part === "text" && part.element.querySelector(".jp-RenderedMarkdown");
  return shown && shown.querySelector("img") !== null && shown.textContent.trim() === "";
}

// A drawing fills the page, or has the size of one below a text.
function drawingZooms(part, room) {
  const picture = part.element.querySelector("img").getBoundingClientRect();
  const place = part.element.getBoundingClientRect();
  const most = Math.min(room / place.height, (place.right - picture.left) / picture.width);
  const larger = OF_PICTURE.map((share) => share * most * 0.99).filter((zoom) => zoom > 1);
  return [...larger, 1];
}

function zoomsOf(part, room) {
  if (part.part === "text") return [textZoom(part, room)];
  if (part.part === "input") return codeZooms(textZoom(part, room));
  const isWidget = holds(part, WIDGETS), isPicture = !isWidget && holds(part, PICTURES);
  const zoom = isWidget || isPicture ? pictureZoom(part, room) : textZoom(part, room);
  const least = Math.min(zoom, (part.scale * SMALLEST) / OUTPUT);
  const shares = isPicture ? OF_PICTURE : SHARES;
  return shares.map((share) => share * zoom).filter((smaller) => smaller >= least);
}

const codeZooms = (zoom) =>
  OF_CODE.map((share) => share * zoom).filter((smaller) => smaller >= Math.min(zoom, LEAST));

// The largest zoom with which a picture or a widget fits the page.
//
// Pictures side by side stand below each other when they are enlarged too much. So a
// zoom that is too large says little about a smaller one: each is tried.
function pictureZoom(part, room) {
  let zoom = (part.scale * TEXT) / OUTPUT;
  for (let attempt = 0; attempt < 60; attempt++) {
    setZoom(part.element, zoom);
    if (widthShare(part.element) <= 1.001 && heightOf(part.element) <= room) break;
    zoom *= FINER;
  }
  return zoom;
}

// The zoom of a text, of code or of a listing; one that is too long goes on overleaf.
function textZoom(part, room) {
  const scale = part.scale;
  const output = part.part === "output";
  const least = output ? (scale * SMALLEST) / OUTPUT : LEAST;
  let zoom = output ? (scale * TEXT) / OUTPUT : 1;
  for (let attempt = 0; attempt < 4; attempt++) {
    setZoom(part.element, zoom);
    const wide = widthShare(part.element);
    const high = heightOf(part.element) / room;
    if (wide <= 1.001 && high <= 1) break;
    let next = zoom / wide;
    if (high > 1) next = Math.min(next, Math.max(zoom / high, least));
    if (next >= zoom) break;
    zoom = next * 0.999;
  }
  return zoom;
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
