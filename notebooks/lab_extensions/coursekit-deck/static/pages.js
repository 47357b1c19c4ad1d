// Pages: which parts of a slide stand together, so that each page fits the screen.
//
// Of all ways to part a slide, the one with the least cost is taken: few pages, an
// output below its cell, and no page with a few lines of text alone.
import { heightOf, sizesOf } from "./sizes.js";

const PAGE = 1; // what a page costs
const SMALLER = 0.08; // what each step costs by which code and outputs are smaller
const PARTED = 0.3; // a short cell at the end of a page, its output on the next one
const SHORT = 0.4; // of the page's height, below which a cell is short
const APART = 0.2; // a text on another page than the cell that it is about
const LONE = 0.7; // a page with a few lines of text
const FEW = 0.2; // of its height, below which these are few

// Put parts on pages; a page is a list of {element, zoom, offset, height}.
//
// `element` is the part's node, visible and laid out at the width of the page; `room`
// is the page's height and `gap` what stands between two parts, in px. A part that is
// higher than a page goes on on the next ones.
export function pack(parts, room, gap) {
  const sized = parts.filter(({ element }) => heightOf(element))
    .map((part) => ({ part, sizes: sizesOf(part, room) }));
  const best = [{ cost: 0, pages: [] }]; // for the parts from a place on, the last first
  for (let from = sized.length - 1; from >= 0; from--)
    best.unshift(cheapest(sized, from, best, room, gap));
  return best[0].pages;
}

// The best pages from a part on; `rest` has those from each later part on.
function cheapest(sized, from, rest, room, gap) {
  const { part, sizes } = sized[from];
  if (sizes[0].height > room) return longer(part, sizes[0], room, rest[0]);
  let best = { cost: Infinity };
  for (let end = from + 1; end <= sized.length; end++) {
    const level = levelOf(sized.slice(from, end), room, gap);
    if (level < 0) break;
    const { cost, pages } = rest[end - from - 1];
    const all = cost + costOf(sized.slice(from, end), level, room)
      + (end < sized.length ? breakCost(sized, end - 1, room) : 0);
    if (all > best.cost) continue;
    const page = sized.slice(from, end).map((one) =>
      ({ ...one.part, zoom: sizeAt(one, level).zoom }));
    best = { cost: all, pages: [page, ...pages] };
  }
  return best;
}

function longer(part, { zoom, height }, room, rest) {
  const pages = windows(part, zoom, height, room);
  return { cost: rest.cost + pages.length * PAGE, pages: [...pages, ...rest.pages] };
}

const sizeAt = ({ sizes }, level) => sizes[Math.min(level, sizes.length - 1)];

// By how many steps code and outputs must be smaller for parts to fit one page; -1: never.
function levelOf(sized, room, gap) {
  const levels = Math.max(...sized.map(({ sizes }) => sizes.length));
  for (let level = 0; level < levels; level++) {
    const heights = sized.map((one) => sizeAt(one, level).height);
    const used = heights.reduce((sum, height) => sum + gap + height, -gap);
    if (used <= room) return level;
  }
  return -1;
}

function costOf(sized, level, room) {
  const used = sized.reduce((sum, one) => sum + sizeAt(one, level).height, 0);
  const isText = sized.every(({ part }) => part.part === "text");
  return PAGE + level * SMALLER + (isText && used < FEW * room ? LONE : 0);
}

// What it costs to end a page after a part, the one at a place.
function breakCost(sized, place, room) {
  const { part, sizes } = sized[place];
  const next = sized[place + 1]?.part;
  if (next?.cell === part.cell) return sizes[0].height < SHORT * room ? PARTED : 0;
  const introduces = part.part === "text" && next?.part === "input"
    && (sized[place - 1]?.part.part !== "output" || isOpening(part));
  const concludes = part.part === "output" && next?.part === "text" && !isOpening(next);
  return introduces || concludes ? APART : 0;
}

// Whether a text is about what follows, also where it stands below an output.
const isOpening = ({ cell }) => /^(#|\*\*|★)|:\s*$/.test(cell.source);

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
