// Grid and block: which thread of a launch handles which element.
//
// `describe` is coursekit/widgets/grid_map.py once more, word for word.

import {
  drawn, element, follow, keepKeys, setAttribute, setText, show, slider, write,
} from "./shared.js";

const LIMITS = { n: 64, blocks: 8, threads: 16 };
const MODES = { guard: "if (i < n)", "grid-stride": "grid-stride loop" };
const [WIDTH, HEIGHT, LABEL, HEADING, COLUMNS] = [42, 36, 74, 24, 16];
const TRAITS = ["n", "blocks", "threads", "mode", "thread"];

function elementsOf({ n, blocks, threads, mode }, thread) {
  const step = mode === "guard" ? n : blocks * threads;
  const found = [];
  for (let i = thread; i < n; i += step) found.push(i);
  return found;
}

function ownerOf({ blocks, threads, mode }, index) {
  const total = blocks * threads;
  return mode === "guard" && index >= total ? null : index % total;
}

function summaryOf(launch) {
  const { n, blocks, threads, mode } = launch;
  const total = blocks * threads;
  const covered = mode === "guard" ? Math.min(n, total) : n;
  const parts = [
    `Threads: ${blocks} * ${threads} = ${total}.`,
    `Elements covered: ${covered} of ${n}.`,
    `Idle threads: ${Math.max(0, total - n)}.`,
  ];
  if (covered < n) {
    const last = covered === n - 1 ? "" : ` to x[${n - 1}]`;
    parts.push(`Without a thread: x[${covered}]${last}.`);
  }
  if (mode === "grid-stride") {
    parts.push(`Most elements of one thread: ${elementsOf(launch, 0).length}.`);
  }
  return parts.join(" ");
}

function meaningOf(launch, thread) {
  const { n, blocks, threads, mode } = launch;
  const found = elementsOf(launch, thread);
  if (!found.length) {
    const end = mode === "guard" ? "the guard sends this thread home"
      : "the loop of this thread ends before it begins";
    return `${thread} < ${n} is false: ${end}.`;
  }
  if (mode === "guard") {
    return `${thread} < ${n} is true: this thread handles x[${thread}].`;
  }
  const names = found.map((i) => `x[${i}]`);
  if (names.length > 5) names.splice(3, names.length - 4, "...");
  return `In steps of gridDim.x * blockDim.x = ${blocks} * ${threads} = `
    + `${blocks * threads}, as long as i < ${n}, this thread handles `
    + `${names.join(", ")}.`;
}

export function describe(launch, thread) {
  const block = Math.floor(thread / launch.threads);
  const inside = thread % launch.threads;
  return {
    block,
    inside,
    elements: elementsOf(launch, thread),
    summary: summaryOf(launch),
    formula: "i = blockIdx.x * blockDim.x + threadIdx.x = "
      + `${block} * ${launch.threads} + ${inside} = ${thread}`,
    meaning: meaningOf(launch, thread),
  };
}

// A box with two lines of text; `set` changes what it says.
function cell(choose) {
  const box = drawn("rect", { width: WIDTH - 4, height: HEIGHT - 4, rx: 3, x: 2, y: 2 });
  const [above, below] = [[16, ""], [28, " ck-small"]].map(([y, size]) =>
    drawn("text", { x: WIDTH / 2, y, class: `ck-middle${size}` }));
  const node = drawn("g", {}, box, above, below);
  node.addEventListener("click", () => choose(node, true));
  node.addEventListener("pointerenter", () => choose(node, false));
  const set = (x, y, texts, block, chosen, thread) => {
    show(node, true);
    setAttribute(node, "transform", `translate(${x} ${y})`);
    const ground = block === null ? "none" : `block${block % 6}`;
    setAttribute(node, "class", `ck-cell ck-${ground}${chosen ? " ck-chosen" : ""}`);
    setText(above, texts[0]);
    setText(below, texts[1]);
    node.thread = thread;
  };
  return { node, set };
}

function picture(choose) {
  const cells = (count) => Array.from({ length: count }, () => cell(choose));
  const labels = (count) => Array.from({ length: count }, () =>
    drawn("text", { x: 4 }));
  const heading = (text, y) => drawn("text", { x: 4, y, class: "ck-heading" }, text);
  const parts = {
    threads: cells(LIMITS.blocks * LIMITS.threads),
    elements: cells(LIMITS.n),
    blockLabels: labels(LIMITS.blocks),
    rowLabels: labels(LIMITS.n / COLUMNS),
    heading: heading("Elements: index above, its thread below", 0),
  };
  const svg = drawn("svg", { role: "img" },
    heading("Threads: threadIdx.x above, i below", 16), parts.heading,
    ...parts.blockLabels, ...parts.rowLabels,
    ...[...parts.threads, ...parts.elements].map((one) => one.node));
  return { svg, ...parts };
}

function drawThreads(view, launch, chosen) {
  const { blocks, threads } = launch;
  view.blockLabels.forEach((label, block) => {
    show(label, block < blocks);
    setAttribute(label, "y", HEADING + block * HEIGHT + 21);
    setText(label, `block ${block}`);
  });
  view.threads.forEach((one, thread) => {
    if (thread >= blocks * threads) return show(one.node, false);
    const block = Math.floor(thread / threads);
    const inside = thread % threads;
    const busy = elementsOf(launch, thread).length > 0;
    one.set(LABEL + inside * WIDTH, HEADING + block * HEIGHT,
      [String(inside), busy ? `i=${thread}` : "idle"],
      busy ? block : null, thread === chosen, thread);
  });
}

function drawElements(view, launch, chosen, top) {
  const { n, threads } = launch;
  view.rowLabels.forEach((label, row) => {
    show(label, row * COLUMNS < n);
    setAttribute(label, "y", top + row * HEIGHT + 21);
    setText(label, `from x[${row * COLUMNS}]`);
  });
  const marked = new Set(elementsOf(launch, chosen));
  view.elements.forEach((one, index) => {
    if (index >= n) return show(one.node, false);
    const owner = ownerOf(launch, index);
    const block = owner === null ? null : Math.floor(owner / threads);
    one.set(LABEL + (index % COLUMNS) * WIDTH,
      top + Math.floor(index / COLUMNS) * HEIGHT,
      [String(index), owner === null ? "none" : `b${block} t${owner % threads}`],
      block, marked.has(index), owner);
  });
}

function draw(view, launch, chosen) {
  const top = HEADING + launch.blocks * HEIGHT + HEADING;
  const height = top + Math.ceil(launch.n / COLUMNS) * HEIGHT + 2;
  setAttribute(view.svg, "viewBox", `0 0 ${LABEL + COLUMNS * WIDTH + 4} ${height}`);
  setAttribute(view.heading, "y", top - 8);
  drawThreads(view, launch, chosen);
  drawElements(view, launch, chosen, top);
}

// The chosen thread stays inside the grid when the grid shrinks.
function writeLaunch(model, name, value) {
  model.set(name, value);
  const last = model.get("blocks") * model.get("threads") - 1;
  if (model.get("thread") > last) model.set("thread", last);
  model.save_changes();
}

function controls(model) {
  const sliders = {
    n: slider("elements n", 1, LIMITS.n, (v) => writeLaunch(model, "n", v)),
    blocks: slider("blocks", 1, LIMITS.blocks, (v) => writeLaunch(model, "blocks", v)),
    threads: slider("threads per block", 1, LIMITS.threads,
      (v) => writeLaunch(model, "threads", v)),
  };
  const select = element("select", {}, ...Object.entries(MODES).map(([value, text]) =>
    element("option", { value }, text)));
  select.addEventListener("change", () => write(model, { mode: select.value }));
  const node = element("div", { class: "ck-controls" },
    ...Object.values(sliders).map((one) => one.node),
    element("label", { class: "ck-slider" }, "kernel ", select));
  return { node, sliders, select };
}

// Left and right go on by one thread; page up and down by one block.
function threadSlider(model) {
  const chosen = slider("thread of the grid", 0, 0, (v) => write(model, { thread: v }));
  chosen.node.classList.add("ck-thread");
  chosen.input.addEventListener("keydown", (event) => {
    const way = { PageUp: 1, PageDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const [threads, last] = [model.get("threads"), Number(chosen.input.max)];
    const wanted = model.get("thread") + way * threads;
    write(model, { thread: Math.min(last, Math.max(0, wanted)) });
  });
  return chosen;
}

function render({ model, el }) {
  let pointed = null; // the thread under the pointer
  const view = picture((node, click) => {
    if (click && node.thread !== null) write(model, { thread: node.thread });
    pointed = click ? null : node.thread;
    update();
  });
  view.svg.addEventListener("pointerleave", () => { pointed = null; update(); });
  const top = controls(model);
  const chosen = threadSlider(model);
  const summary = element("p", { role: "status" });
  const formula = element("p", { class: "ck-formula" });
  const meaning = element("p");

  function update() {
    const launch = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
    const last = launch.blocks * launch.threads - 1;
    const thread = Math.min(launch.thread, last);
    const shown = pointed === null || pointed > last ? thread : pointed;
    const told = describe(launch, thread);
    const words = describe(launch, shown);
    for (const [name, one] of Object.entries(top.sliders)) one.set(launch[name]);
    if (top.select.value !== launch.mode) top.select.value = launch.mode;
    chosen.set(thread, `thread ${told.inside} of block ${told.block}: `
      + `${told.formula}. ${told.meaning}`, last);
    draw(view, launch, shown);
    setText(summary, words.summary);
    setText(formula, words.formula);
    setText(meaning, words.meaning);
    setAttribute(view.svg, "aria-label", `Which thread handles which element. ${
      words.summary} Marked: thread ${words.inside} of block ${words.block}.`);
  }

  el.classList.add("ck-widget", "ck-grid-block");
  el.append(top.node, summary, view.svg, chosen.node, formula, meaning);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
