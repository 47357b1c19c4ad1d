// The microscope's pictures: lanes over the steps, and from lanes to sectors or banks.

import { drawn, setAttribute, setText, show } from "./shared.js";
import { LANES, has } from "./microscope_trace.js";

const [CELL, ROW] = [17, 22]; // a lane's box, in units of the picture
const WIDTH = LANES * CELL + 8;
const MOST_BOXES = 32;
const [LANE_Y, BOX_Y, HEIGHT] = [20, 118, 178];

// Which lanes were active at each step: a strip, with a line at the step shown.
export function maskStrip(choose) {
  const body = drawn("g", {});
  const cursor = drawn("rect", { class: "ck-cursor", y: 0, height: 64, width: 3 });
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} 64`,
    class: "ck-strip", preserveAspectRatio: "none" }, body, cursor);
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    choose((event.clientX - box.left) / box.width);
  });
  const fill = (trace) => {
    const shapes = [];
    const wide = WIDTH / trace.count;
    for (let start = 0; start < trace.count;) {
      let end = start + 1;
      while (end < trace.count && trace.maskOf[end] === trace.maskOf[start]) end += 1;
      shapes.push(...runs(trace.mask(start)).map(([from, to]) => drawn("rect", {
        x: (start * wide).toFixed(2), width: ((end - start) * wide).toFixed(2),
        y: from * 2, height: (to - from) * 2, class: "ck-on" })));
      start = end;
    }
    body.replaceChildren(...shapes);
  };
  const set = (trace, step) => {
    const wide = WIDTH / trace.count;
    setAttribute(cursor, "x", Math.max(0, (step + 0.5) * wide - 1.5).toFixed(2));
    setAttribute(svg, "aria-label", `Active lanes at each of ${trace.count} steps, `
      + `lane 0 on top. Marked: step ${step + 1}.`);
  };
  return { svg, fill, set };
}

function runs(mask) {
  const found = [];
  for (let lane = 0; lane < LANES;) {
    if (!has(mask, lane)) { lane += 1; continue; }
    const start = lane;
    while (lane < LANES && has(mask, lane)) lane += 1;
    found.push([start, lane]);
  }
  return found;
}

// The 32 lanes above; below them sectors or banks; arrows from lane to box.
export function lanePicture(choose) {
  const text = (attributes, words = "") => drawn("text", attributes, words);
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    const box = drawn("rect", { x: 4 + lane * CELL, y: LANE_Y, width: CELL - 2,
      height: ROW, rx: 2 });
    const label = text({ x: 4 + lane * CELL + (CELL - 2) / 2, y: LANE_Y + 15,
      class: "ck-middle" }, String(lane));
    const node = drawn("g", {}, box, label);
    node.addEventListener("click", () => choose(lane));
    return node;
  });
  const arrows = Array.from({ length: LANES }, () => drawn("path", {}));
  const boxes = Array.from({ length: MOST_BOXES }, () => {
    const [box, above, below] = [drawn("rect", { y: BOX_Y, height: ROW, rx: 2 }),
      text({ y: BOX_Y + 15, class: "ck-middle" }), text({ y: BOX_Y + 36,
        class: "ck-middle ck-small" })];
    return { node: drawn("g", {}, box, above, below), box, above, below };
  });
  const headings = [text({ x: 4, y: 13, class: "ck-heading" }, "Lanes of the warp"),
    text({ x: 4, y: BOX_Y + 54 })];
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "ck-lanes" }, ...arrows, ...headings, ...lanes,
  ...boxes.map((one) => one.node));
  return { svg, lanes, arrows, boxes, heading: headings[1] };
}

export function drawLanes(view, mask, live, lane, access) {
  view.lanes.forEach((node, n) => setAttribute(node, "class", "ck-lane"
    + (has(mask, n) ? " ck-on" : has(live, n) ? " ck-off" : " ck-gone")
    + (n === lane ? " ck-chosen" : "")));
  const targets = !access ? [] : access.shared ? access.banks : access.sectors;
  const used = [...new Set(targets.filter((one) => one !== null && one !== undefined))]
    .sort((a, b) => a - b);
  const names = access?.shared ? Array.from({ length: LANES }, (_, n) => n) : used;
  const wide = access?.shared ? CELL : Math.min(64, (WIDTH - 8) / (names.length || 1));
  const middle = (n) => 4 + (names.indexOf(n) + 0.5) * wide - 1;
  view.boxes.forEach((box, n) => {
    show(box.node, n < names.length);
    if (n < names.length) drawBox(box, access, names[n], [4 + n * wide, wide, n]);
  });
  view.arrows.forEach((path, n) => {
    const target = targets[n] ?? null;
    show(path, target !== null);
    if (target === null) return;
    const [from, to] = [4 + n * CELL + (CELL - 2) / 2, middle(target)];
    setAttribute(path, "d", `M${from} ${LANE_Y + ROW} C${from} ${LANE_Y + 62} `
      + `${to.toFixed(1)} ${BOX_Y - 48} ${to.toFixed(1)} ${BOX_Y}`);
    setAttribute(path, "class", `ck-arrow${n === lane ? " ck-chosen" : ""}`);
  });
  setText(view.heading, !used.length ? "" : access.shared
    ? "Below each bank of shared memory: how many of its words are asked for."
    : `Below each sector of ${access.array}: its first element.`
      + " In it, where it fits: how many lanes share it.");
  setAttribute(view.svg, "viewBox", `0 0 ${WIDTH} ${used.length ? HEIGHT : 48}`);
}

function drawBox(one, access, target, [x, wide, position]) {
  const width = Math.max(3, wide - 2);
  setAttribute(one.box, "x", x.toFixed(1));
  setAttribute(one.box, "width", width.toFixed(1));
  for (const label of [one.above, one.below]) {
    setAttribute(label, "x", (x + width / 2).toFixed(1));
  }
  if (access.shared) {
    const words = new Set(access.offsets.filter((at, lane) =>
      at !== null && access.banks[lane] === target).map((at) => Math.floor(at / 4)));
    setText(one.above, String(target));
    setText(one.below, words.size ? `${words.size}` : "");
    setAttribute(one.node, "class", "ck-box"
      + (words.size > 1 ? " ck-conflict" : words.size ? " ck-on" : " ck-off"));
    return;
  }
  const users = access.sectors.filter((sector) => sector === target).length;
  setText(one.above, wide > 22 ? `${users}` : "");
  const element = String(Math.ceil((target * 32) / access.item));
  const every = Math.ceil((element.length + 1) * 6 / wide); // labels that fit
  setText(one.below, position % every ? "" : element);
  setAttribute(one.node, "class", `ck-box ck-on${users * access.width < 16
    ? " ck-conflict" : ""}`);
}
