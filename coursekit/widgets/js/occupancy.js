// Occupancy: sliders for what a block needs, and how many blocks an SM then holds.

import { drawn, element, follow, keepKeys, setAttribute, setText } from "./shared.js";
import { NEEDS, PANELS, controls } from "./occupancy_controls.js";
import { blocksOf, occupancyOf, shownLimit, warpsOf } from "./occupancy_rules.js";

const [PANEL, GAP, HIGH, LEFT, TOP, BOTTOM] = [240, 14, 150, 34, 22, 34];
const POINTS = 256;
const TRAITS = [...NEEDS, "grid", "device", "kernel"];

function stateOf(model) {
  const demand = Object.fromEntries(NEEDS.map((name) => [name, model.get(name)]));
  return { demand, sm: model.get("devices")[model.get("device")], grid: model.get("grid") };
}

export function describe({ demand, sm, grid }) {
  return occupancyOf(sm, demand, grid);
}

// A curve: warps that an SM holds, over one of the needs.
function panel(number, key) {
  const x0 = 4 + number * (PANEL + GAP);
  const [width, height] = [PANEL - LEFT - 8, HIGH - TOP - BOTTOM];
  const { title, most: limit, unit } = PANELS[key];
  const text = (x, y, words = "", anchor = "start", kind = "") =>
    drawn("text", { x, y, "text-anchor": anchor, class: kind }, words);
  const parts = {
    curve: drawn("path", { class: "ck-curve" }),
    place: drawn("path", { class: "ck-place" }),
    dot: drawn("circle", { class: "ck-dot", r: 5 }),
    top: text(x0 + LEFT - 4, TOP + 8, "", "end"),
    end: text(x0 + LEFT + width, TOP + height + 14, "", "end"),
    now: text(x0 + LEFT + width / 2, TOP + height + 28, "", "middle"),
  };
  const node = drawn("g", {}, text(x0 + 4, 14, `warps over ${title}`, "start", "ck-heading"),
    drawn("path", { class: "ck-axes",
      d: `M${x0 + LEFT} ${TOP}V${TOP + height}H${x0 + LEFT + width}` }),
    text(x0 + LEFT - 4, TOP + height, "0", "end"), text(x0 + LEFT, TOP + height + 14, "0"),
    ...Object.values(parts));
  const set = ({ demand, sm }, warps) => {
    const most = sm[limit];
    const at = (value, held) => [x0 + LEFT + width * value / most,
      TOP + height * (1 - held / sm.max_warps_per_sm)];
    let [path, before] = ["", null];
    for (let point = 0; point < POINTS; point += 1) {
      const value = Math.max(Math.floor(point * most / (POINTS - 1)), 1);
      const changed = { ...demand, [key]: value };
      const [x, y] = at(value, blocksOf(sm, changed) * warpsOf(sm, changed));
      path += before === null ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `H${x.toFixed(1)}`;
      if (before !== null && y !== before) path += `V${y.toFixed(1)}`;
      before = y;
    }
    const [x, y] = at(Math.min(demand[key], most), warps);
    setAttribute(parts.curve, "d", path);
    setAttribute(parts.place, "d", `M${x} ${TOP}V${TOP + height}`);
    setAttribute(parts.dot, "cx", x);
    setAttribute(parts.dot, "cy", y);
    setText(parts.top, String(sm.max_warps_per_sm));
    setText(parts.end, String(Math.floor(most / unit)));
    const shown = Number((demand[key] / unit).toPrecision(4));
    setText(parts.now, `now ${shown}: ${warps} warps`);
  };
  return { node, set };
}

function limitTable() {
  const rows = Array.from({ length: 5 }, () => {
    const cells = [element("th", { scope: "row" }), element("td", { class: "ck-count" }),
      element("td"), element("td")];
    return { node: element("tr", {}, ...cells), cells };
  });
  const heads = ["limit", "blocks per SM", "because", "keeps more out"];
  const node = element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map((text) =>
      element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => row.node)));
  const set = (found) => rows.forEach((row, number) => {
    const told = found.rows[number];
    row.node.hidden = !told;
    if (!told) return;
    const binds = found.bound.includes(told[0]);
    const texts = [told[0], shownLimit(told[1]), told[2], binds ? "yes" : ""];
    row.cells.forEach((cell, place) => setText(cell, texts[place]));
    setAttribute(row.node, "class", binds ? "ck-binds" : "");
  });
  return { node, set };
}

function render({ model, el }) {
  const title = element("p");
  const summary = element("p", { role: "status", class: "ck-summary" });
  const advice = [element("p"), element("p")];
  const top = controls(model);
  const table = limitTable();
  const panels = Object.keys(PANELS).map((key, number) => panel(number, key));
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${3 * PANEL + 2 * GAP + 8} ${HIGH}` },
    ...panels.map((one) => one.node));

  function update() {
    const state = stateOf(model);
    const found = describe(state);
    for (const [name, one] of Object.entries(top.sliders)) {
      const value = state.demand[name];
      const most = state.sm[PANELS[name].most];
      one.set(value, `${value.toLocaleString("en-US")}: ${found.summary}`, most);
    }
    if (top.select.value !== model.get("device")) top.select.value = model.get("device");
    setText(title, `Occupancy of ${model.get("kernel")}: blocks that an SM holds at once`);
    setText(summary, found.summary);
    advice.forEach((node, number) => {
      setText(node, found.advice[number] ?? "");
      node.hidden = !found.advice[number];
    });
    table.set(found);
    panels.forEach((one) => one.set(state, found.warps));
    setAttribute(svg, "aria-label", "Warps that an SM holds over registers, shared "
      + `memory and threads of a block. ${found.summary}`);
  }

  el.classList.add("ck-widget", "ck-occupancy");
  el.append(title, top.node, summary, svg, table.node, ...advice);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
