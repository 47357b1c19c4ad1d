// Overlap: operations on their way through streams, and what the engines then do.
//
// The notebook computes the schedule; the view moves operations and draws the bars.

import {
  button, drawn, element, follow, keepKeys, setAttribute, setText, slider, write,
} from "./shared.js";
import { chart } from "./overlap_bars.js";

const [STREAMS, MOST, ROW] = [4, 8, 34];
const STAGES = ["in", "kernel", "out"];
const LONG = ["copy in", "kernel", "copy out"];
const ORDERS = ["chunk by chunk", "stage by stage"];
const TRAITS = ["chunks", "pinned", "order", "events", "placed", "plan"];

// Places of operations in the order of issue; a place is 3 * chunk + stage.
export function issued(chunks, order) {
  const places = Array.from({ length: 3 * chunks }, (_, place) => place);
  return order === ORDERS[0] ? places
    : places.sort((a, b) => a % 3 - b % 3 || a - b);
}

export const spread = {
  "One stream": (chunks) => Array(3 * chunks).fill(0),
  "A stream for each chunk": (chunks) => Array.from({ length: 3 * chunks },
    (_, place) => Math.floor(place / 3) % STREAMS),
  "A stream for each stage": (chunks) => Array.from({ length: 3 * chunks },
    (_, place) => place % 3),
};

export const keyOf = (get) => JSON.stringify(
  ["chunks", "pinned", "order", "events", "placed"].map(get));

// Where the operations of a move go: one, or with `whole` all of its chunk.
export function moved(placed, place, stream, whole) {
  if (stream < 0 || stream >= STREAMS) return placed;
  const chunk = Math.floor(place / 3);
  return placed.map((old, other) =>
    (other === place || (whole && Math.floor(other / 3) === chunk) ? stream : old));
}

function select(label, options, changed) {
  const box = element("select", {}, ...options.map((text) =>
    element("option", { value: text }, text)));
  box.addEventListener("change", () => changed(box.value));
  return { box, node: element("label", { class: "ck-slider" }, `${label} `, box) };
}

// The operations as buttons on a grid: a row is a stream, a column a turn of the host.
function board(model) {
  const get = (name) => model.get(name);
  const go = (place, stream, whole) => {
    const placed = moved(get("placed"), place, stream, whole);
    if (placed !== get("placed")) write(model, { placed });
  };
  const chips = Array.from({ length: 3 * MOST }, (_, place) => {
    const node = element("button", { type: "button", draggable: "true",
      class: `ck-chip ck-stage${place % 3}` },
    `${STAGES[place % 3]} ${Math.floor(place / 3)}`);
    node.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", String(place));
    });
    node.addEventListener("click", (event) =>
      go(place, (get("placed")[place] + 1) % STREAMS, event.shiftKey));
    node.addEventListener("keydown", (event) => {
      const turns = issued(get("chunks"), get("order"));
      const beside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (beside) chips[turns[turns.indexOf(place) + beside]]?.focus();
      if (step) go(place, get("placed")[place] + step, event.shiftKey);
      if (beside || step) event.preventDefault();
    });
    return node;
  });
  const names = Array.from({ length: STREAMS }, (_, stream) => {
    const name = element("span", { class: "ck-name" }, `stream ${stream}`);
    name.style.gridRow = stream + 1;
    return name;
  });
  const node = element("div", { class: "ck-board", role: "group",
    "aria-label": "Operations in their streams, in the order of issue" },
  ...names, ...chips);
  node.addEventListener("dragover", (event) => event.preventDefault());
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    const place = Number(event.dataTransfer.getData("text/plain"));
    const row = Math.floor((event.clientY - node.getBoundingClientRect().top) / ROW);
    if (place < 3 * get("chunks")) go(place, row, event.shiftKey);
  });
  const set = () => {
    const [placed, turns] = [get("placed"), issued(get("chunks"), get("order"))];
    chips.forEach((chip, place) => {
      chip.hidden = place >= turns.length;
      if (chip.hidden) return;
      chip.style.gridRow = placed[place] + 1;
      chip.style.gridColumn = turns.indexOf(place) + 2;
      setAttribute(chip, "aria-label", `${STAGES[place % 3]} ${Math.floor(place / 3)}: `
        + `${LONG[place % 3]} of chunk ${Math.floor(place / 3)}, in stream `
        + `${placed[place]}`);
    });
  };
  return { node, set };
}

function controls(model) {
  const get = (name) => model.get(name);
  const count = slider("chunks", 1, MOST, (chunks) => {
    const placed = spread["A stream for each chunk"](chunks);
    const old = get("placed");
    const one = new Set(old).size === 1;
    write(model, { chunks,
      placed: placed.map((stream, n) => (one ? old[0] : old[n] ?? stream)) });
  });
  const memory = select("host memory", ["pinned", "pageable"],
    (kind) => write(model, { pinned: kind === "pinned" }));
  const order = select("issued", ORDERS, (value) => write(model, { order: value }));
  const events = element("input", { type: "checkbox" });
  events.addEventListener("change", () => write(model, { events: events.checked }));
  const presets = Object.entries(spread).map(([text, place]) =>
    button(text, () => write(model, { placed: place(get("chunks")) })));
  const nodes = [
    element("div", { class: "ck-controls" }, count.node, memory.node, order.node,
      element("label", { class: "ck-slider" }, events, "events between streams")),
    element("div", { class: "ck-controls" }, ...presets),
  ];
  const set = () => {
    count.set(get("chunks"));
    memory.box.value = get("pinned") ? "pinned" : "pageable";
    order.box.value = get("order");
    events.checked = get("events");
  };
  return { nodes, set };
}

function render({ model, el }) {
  const top = controls(model);
  const middle = board(model);
  const bars = chart();
  const told = element("p", { role: "status" });
  const problem = element("p", { role: "status", class: "ck-problem" });
  const origin = element("p", { class: "ck-origin" });
  el.classList.add("ck-widget", "ck-overlap");
  el.append(
    element("p", {}, element("strong", {},
      "Overlap: spread copies and kernels over streams")),
    ...top.nodes,
    element("p", { class: "ck-task" }, "Make it short, and keep it right. Move an "
      + "operation to another stream: drag it, or press up or down; with Shift, its "
      + "whole chunk goes along. Left and right go to its neighbours."),
    middle.node, bars.svg, told, problem, bars.table, origin);

  function update() {
    const plan = model.get("plan");
    const fresh = plan.for === keyOf((name) => model.get(name));
    top.set();
    middle.set();
    bars.set(plan, fresh);
    setText(told, fresh ? plan.told
      : "The notebook is asked for the bars; if nothing comes, run the cell again.");
    setText(problem, fresh ? plan.problem : "");
    setText(origin, "Thick outlines: the chain that takes all the time. The machine: "
      + `${plan.origin}.`);
  }

  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
