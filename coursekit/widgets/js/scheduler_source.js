// The scheduler's source lines: places for barriers, and arcs between lines that race.

import { codeLine, drawn, element, setAttribute, show } from "./shared.js";
import { MOST_ARCS } from "./scheduler_rules.js";

const ROW = 28; // height of a source line, in pixels; the style sheet says so, too
const GUTTER = 56;
export const listed = (words) => words.length < 2 ? words.join("")
  : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

// The kernel with a place for a barrier before each line that can have one. The
// places are one stop of the Tab key; arrows go from place to place.
export function sourceOf(model, toggle) {
  const slots = new Map();
  const [first, code] = [model.get("first"), model.get("code")];
  const rows = code.map((parts, index) => {
    const line = first + index;
    const node = element("div", { class: "ck-row" },
      element("span", { class: "ck-number" }, String(line)), codeLine(parts));
    if (model.get("slots").includes(line)) {
      const mark = element("span", { class: "ck-mark" });
      const slot = element("button", { type: "button", class: "ck-slot",
        draggable: "true", tabindex: slots.size ? "-1" : "0", "aria-pressed": "false",
        "aria-label": `barrier before line ${line}` }, mark);
      slot.addEventListener("click", () => toggle(line));
      slots.set(line, { slot, mark });
      node.append(slot);
    }
    return node;
  });
  const lines = [...slots.keys()];
  const node = element("div", { role: "group", class: "ck-source", tabindex: "-1",
    "aria-label": "Kernel, with places for barriers" },
  element("div", { class: "ck-rows" }, ...rows));
  node.addEventListener("keydown", (event) => {
    const at = lines.findIndex((line) => slots.get(line).slot === event.target);
    const way = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !way) return;
    event.preventDefault();
    const to = Math.min(lines.length - 1, Math.max(0, at + way));
    for (const [line, one] of slots) {
      setAttribute(one.slot, "tabindex", line === lines[to] ? "0" : "-1");
    }
    slots.get(lines[to]).slot.focus();
  });
  return { node, slots, first };
}

// A barrier can be dragged: from the tray, from place to place, and back.
export function dragging(source, tray, change) {
  let from = null;
  const start = (node, line) => node.addEventListener("dragstart", (event) => {
    from = { line };
    event.dataTransfer?.setData("text/plain", "barrier");
  });
  const drop = (node, line) => {
    node.addEventListener("dragover", (event) => event.preventDefault());
    node.addEventListener("drop", (event) => {
      event.preventDefault();
      if (from) change(from.line, line);
      from = null;
    });
  };
  start(tray, null);
  drop(tray, null);
  for (const [line, { slot }] of source.slots) {
    start(slot, line);
    drop(slot, line);
  }
}

// Arcs to the left of the lines, one for each pair of lines that race.
export function arcsBeside(rows) {
  const arcs = Array.from({ length: MOST_ARCS }, () => {
    const [path, dots] = [drawn("path", {}), [drawn("circle", { r: 4 }),
      drawn("circle", { r: 4 })]];
    return { node: drawn("g", {}, path, ...dots), path, dots };
  });
  const svg = drawn("svg", { role: "img", class: "ck-arcs", width: GUTTER,
    height: rows * ROW, viewBox: `0 0 ${GUTTER} ${rows * ROW}` },
  ...arcs.map((arc) => arc.node));
  const set = (pairs, first) => {
    arcs.forEach((arc, n) => {
      show(arc.node, n < pairs.length);
      if (n >= pairs.length) return;
      const ys = pairs[n].lines.map((line) => (line - first + 0.5) * ROW);
      const out = Math.min(GUTTER - 12, 12 + Math.abs(ys[0] - ys[1]) / 4 + n * 5);
      const x = GUTTER - 5;
      setAttribute(arc.path, "d", ys[0] === ys[1]
        ? `M${x} ${ys[0] - 5} C${x - 34} ${ys[0] - 16} ${x - 34} ${ys[0] + 16} ${x} `
          + `${ys[0] + 5}`
        : `M${x} ${ys[0]} C${x - out} ${ys[0]} ${x - out} ${ys[1]} ${x} ${ys[1]}`);
      arc.dots.forEach((dot, k) => {
        setAttribute(dot, "cx", x);
        setAttribute(dot, "cy", ys[k] + (ys[0] === ys[1] ? 10 * k - 5 : 0));
      });
      setAttribute(arc.node, "class", `ck-arc${pairs[n].latest ? " ck-latest" : ""}`);
    });
    setAttribute(svg, "aria-label", pairs.length
      ? `Races between ${listed(pairs.map(({ lines }) => `lines ${lines.join(" and ")}`))}`
      : "No race so far");
  };
  return { svg, set };
}
