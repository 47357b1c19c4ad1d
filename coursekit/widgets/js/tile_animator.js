// Tile animator: cut a matrix product, then go through it step by step.

import {
  button, element, follow, keepKeys, setAttribute, setText, slider, write,
} from "./shared.js";
import {
  BUFFERS, LAYOUTS, ORDERS, PIECES, tilingOf, wordsOf,
} from "./tile_rules.js";
import { tilePicture } from "./tile_picture.js";

const [TILES, DEPTHS] = [[16, 32, 64, 128, 256], [4, 8, 16, 32]];
const [DOWN, PATCHES] = [[1, 2, 4, 8, 16, 32], [1, 2, 4, 8, 16]];
const CHOICES = {
  rows: ["block tile, rows", TILES], cols: ["columns", TILES],
  depth: ["k", DEPTHS], down: ["rows of lanes in a warp", DOWN],
  patch_rows: ["patch of a thread, rows", PATCHES], patch_cols: ["columns ", PATCHES],
  pieces: ["the patch lies", PIECES], order: ["lanes are numbered", ORDERS],
  a_tile: ["tile of A in shared memory", LAYOUTS], buffers: ["pairs of tiles", BUFFERS],
  copied: ["values a copy", [1, 4]],
};
const SIZES = ["M", "N", "K"];
const TRAITS = [...SIZES, ...Object.keys(CHOICES), "block", "thread", "step"];
const HEADS = ["matrix", "each value is read from global memory",
  "then from shared memory by", "reads per warp", "wavefronts", "of them conflicts"];
const TICK = 700; // milliseconds

const stateOf = (model) =>
  Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));

// The same with block, thread and step inside what there is.
function clipped(state) {
  const cut = tilingOf(state);
  const most = { block: cut.grid[0] * cut.grid[1], thread: Math.max(cut.threads, 1),
    step: cut.steps };
  const places = Object.fromEntries(Object.entries(most).map(([name, count]) =>
    [name, Math.min(state[name], count - 1)]));
  return { cut, most, state: { ...state, ...places } };
}

export function describe(state) {
  return wordsOf(state);
}

function selected(label, options, changed) {
  const box = element("select", {}, ...options.map((text) =>
    element("option", { value: text }, String(text))));
  box.addEventListener("change", () => changed(box.value));
  return { box, node: element("label", { class: "ck-slider" }, `${label} `, box) };
}

function shapes(model, change) {
  const ladder = model.get("ladder");
  const own = "of your own";
  const preset = selected("kernel", [...Object.keys(ladder), own],
    (name) => { if (ladder[name]) change(ladder[name]); });
  const sizes = Object.fromEntries(SIZES.map((name) =>
    [name, slider(name, 32, 1024, (value) => change({ [name]: value }))]));
  Object.values(sizes).forEach((one) => setAttribute(one.input, "step", 8));
  const picks = Object.fromEntries(Object.entries(CHOICES).map(([name, [label, list]]) =>
    [name, selected(label, list, (text) =>
      change({ [name]: list.find((one) => String(one) === text) }))]));
  const row = (nodes) => element("div", { class: "ck-controls" },
    ...nodes.map((one) => one.node));
  const nodes = [row([preset, ...Object.values(sizes)]),
    element("details", {}, element("summary", {}, "Cut it yourself"),
      row(Object.values(picks)))];
  const set = (state) => {
    SIZES.forEach((name) => sizes[name].set(state[name]));
    Object.entries(picks).forEach(([name, { box }]) => { box.value = state[name]; });
    preset.box.value = Object.keys(ladder).find((name) =>
      Object.entries(ladder[name]).every(([key, one]) => state[key] === one)) ?? own;
  };
  return { nodes, set };
}

function costTable() {
  const rows = Array.from({ length: 3 }, () => {
    const cells = HEADS.map((_, n) => element(n ? "td" : "th", n ? {} : { scope: "row" }));
    return { node: element("tr", {}, ...cells), cells };
  });
  const node = element("table", {},
    element("thead", {}, element("tr", {}, ...HEADS.map((text) =>
      element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((one) => one.node)));
  const set = (table) => table.forEach((texts, n) =>
    texts.forEach((text, place) => setText(rows[n].cells[place], text)));
  return { node, set };
}

function player(model, change) {
  let timer = null;
  const last = () => clipped(stateOf(model)).most.step - 1;
  const move = (by) => {
    const { state } = clipped(stateOf(model));
    change({ step: Math.max(0, Math.min(last(), state.step + by)) });
  };
  const stop = () => { clearInterval(timer); timer = null; setText(play, "Play"); };
  const tick = () => {
    move(1);
    if (model.get("step") >= last()) stop();
  };
  const play = button("Play", () => {
    if (timer) return stop();
    if (model.get("step") >= last()) change({ step: 0 });
    timer = setInterval(tick, TICK);
    return setText(play, "Pause");
  });
  const sliders = Object.fromEntries(["step", "block", "thread"].map((name) =>
    [name, slider(name, 0, 0, (value) => change({ [name]: value }))]));
  const node = element("div", { class: "ck-controls" }, play,
    button("Back", () => move(-1)), button("Forward", () => move(1)),
    ...Object.values(sliders).map((one) => one.node));
  const set = (state, most, words) => Object.entries(sliders).forEach(([name, one]) =>
    one.set(state[name], `${name} ${state[name]}: ${
      name === "thread" ? words.owner : words.told}`, most[name] - 1));
  return { node, set, stop };
}

function render({ model, el }) {
  const change = (values) => write(model, values);
  const top = shapes(model, change);
  const steps = player(model, change);
  const [picture, table] = [tilePicture(), costTable()];
  const problem = element("p", { role: "status", class: "ck-problem" });
  const told = element("p", { role: "status", class: "ck-told" });
  const lines = ["so_far", "owner", "summary", "cost"].map((name) =>
    [name, element("p")]);
  const legend = element("p", { class: "ck-legend" }, "Solid patches on the right: what "
    + "the thread owns of C and takes for it, or copies. Outlined in dashes on the left: "
    + "tiles on their way.");
  const shown = element("div", {}, steps.node, picture.svg, told,
    ...lines.slice(0, 2).map((one) => one[1]), legend, lines[2][1], table.node,
    lines[3][1]);

  function update() {
    const { cut, most, state } = clipped(stateOf(model));
    const words = describe(state);
    top.set(state);
    setText(problem, words.problem);
    problem.hidden = !words.problem;
    shown.hidden = Boolean(words.problem);
    if (words.problem) return;
    steps.set(state, most, words);
    picture.set(cut, state, words);
    table.set(words.table);
    setText(told, words.told);
    lines.forEach(([name, node]) => setText(node, words[name]));
  }

  el.classList.add("ck-widget", "ck-tiles");
  el.append(element("p", {}, element("strong", {}, "A matrix product in tiles: who owns, "
    + "who loads, who reads?")), ...top.nodes, problem, shown);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { steps.stop(); release(); unfollow(); };
}

export default { render };
