// Residency: blocks move into an SM, one by one, until something is used up.

import {
  button, drawn, element, follow, keepKeys, setAttribute, setText, show, slider, write,
} from "./shared.js";
import { NEEDS, PANELS, controls } from "./occupancy_controls.js";
import {
  occupancyOf, registersOfWarp, sharedOfBlock, warpsOf,
} from "./occupancy_rules.js";

const [WIDTH, LEFT, RIGHT, TOP, ROW, BAR] = [760, 96, 150, 8, 46, 26];
const ALONG = WIDTH - LEFT - RIGHT;
const [AFTER, COLOURS, MOST_BLOCKS, LETTER, PAUSE_MS] = [8, 6, 32, 7, 700];
const TRAITS = [...NEEDS, "device", "step"];
const inFigures = (number) => Number(number.toPrecision(5)).toLocaleString("en-US",
  { maximumFractionDigits: 12 });

export function resourcesOf(sm, demand) {
  const warps = warpsOf(sm, demand);
  return [
    ["block slots", sm.max_blocks_per_sm, 1, 1],
    ["warp slots", sm.max_warps_per_sm, warps, 1],
    ["registers", sm.registers_per_sm, registersOfWarp(sm, demand) * warps, 1],
    ["shared KiB", sm.shared_bytes_per_sm, sharedOfBlock(sm, demand), 1024],
  ].map(([title, most, each, unit]) => ({ title, most, each, unit }));
}

export function residentsOf(blocks, step) {
  return Array.from({ length: Math.min(step, blocks) }, (_, place) =>
    place + Math.floor((step - 1 - place) / blocks) * blocks);
}

export const lastOf = (blocks) => (blocks ? blocks + AFTER : 0);

export function toldOf({ blocks, bound, summary }, step) {
  if (!blocks) return summary;
  if (step === 0) return "The SM is empty.";
  if (step > blocks) {
    return `Block ${step - 1 - blocks} has ended, and block ${step - 1} takes its place.`;
  }
  const held = `Block ${step - 1} moves in: the SM holds ${step}.`;
  return step < blocks ? held
    : `${held} It is full: for one more, there are too few ${bound.join(" and ")}.`;
}

export function stateAt({ demand, sm }, step) {
  const found = occupancyOf(sm, demand, 0);
  return { blocks: found.blocks, last: lastOf(found.blocks),
    residents: residentsOf(found.blocks, step), told: toldOf(found, step),
    resources: resourcesOf(sm, demand) };
}

// A bar for one resource: a part for each block, and how much is used.
function bar(row) {
  const y = TOP + row * ROW;
  const title = drawn("text", { x: 12, y: y + 17 });
  const used = drawn("text", { x: LEFT + ALONG + 8, y: y + 17 });
  const parts = Array.from({ length: MOST_BLOCKS }, () => {
    const place = drawn("rect", { y, height: BAR });
    const name = drawn("text", { y: y + 17, "text-anchor": "middle" });
    return { place, name, node: drawn("g", {}, place, name) };
  });
  const node = drawn("g", {}, title, used, drawn("rect", { class: "ck-frame", x: LEFT, y,
    width: ALONG, height: BAR }), ...parts.map((part) => part.node));
  const set = (one, residents) => {
    const width = ALONG * one.each / one.most;
    setText(title, one.title);
    setText(used, `${inFigures(residents.length * one.each / one.unit)} of ${
      inFigures(one.most / one.unit)}`);
    parts.forEach((part, place) => {
      const here = place < residents.length;
      show(part.node, here);
      if (!here) return;
      const [block, x] = [residents[place], LEFT + place * width];
      setAttribute(part.place, "class", `ck-part ck-part${block % COLOURS}`);
      setAttribute(part.place, "x", x.toFixed(1));
      setAttribute(part.place, "width", width.toFixed(1));
      setAttribute(part.name, "x", (x + width / 2).toFixed(1));
      const fits = LETTER * String(block).length + 2 <= width;
      setText(part.name, fits ? String(block) : "");
    });
  };
  return { node, set };
}

// Buttons and a slider that walk through the steps; `stop` ends a running walk.
function walk(model, lastNow) {
  let timer = null;
  const steps = slider("blocks that have moved in", 0, 0, (step) => {
    stop();
    write(model, { step });
  });
  const play = button("Play", () => (timer === null ? start() : stop()));
  const next = button("Next", () => {
    stop();
    write(model, { step: Math.min(model.get("step") + 1, lastNow()) });
  });
  const empty = button("Empty the SM", () => {
    stop();
    write(model, { step: 0 });
  });
  function stop() {
    clearInterval(timer);
    timer = null;
    setText(play, "Play");
  }
  function start() {
    if (model.get("step") >= lastNow()) write(model, { step: 0 });
    setText(play, "Pause");
    timer = setInterval(() => {
      if (model.get("step") >= lastNow()) stop();
      else write(model, { step: model.get("step") + 1 });
    }, PAUSE_MS);
  }
  const node = element("div", { class: "ck-controls" }, play, next, empty, steps.node);
  return { node, steps, stop };
}

function render({ model, el }) {
  const stateOf = () => ({
    demand: Object.fromEntries(NEEDS.map((name) => [name, model.get(name)])),
    sm: model.get("devices")[model.get("device")],
  });
  const stepNow = (last) => Math.min(model.get("step"), last);
  const lastNow = () => stateAt(stateOf(), 0).last;
  const top = controls(model);
  const walking = walk(model, lastNow);
  const told = element("p", { role: "status", class: "ck-summary" });
  const bars = Array.from({ length: 4 }, (_, row) => bar(row));
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${TOP + 4 * ROW}` },
    ...bars.map((one) => one.node));

  function update() {
    const state = stateOf();
    const { last } = stateAt(state, 0);
    const step = stepNow(last);
    const now = stateAt(state, step);
    for (const name of ["registers", "shared_bytes", "threads"]) {
      const value = state.demand[name];
      top.sliders[name].set(value, value.toLocaleString("en-US"),
        state.sm[PANELS[name].most]);
    }
    if (top.select.value !== model.get("device")) top.select.value = model.get("device");
    walking.steps.set(step, `${step}: ${now.told}`, last);
    setText(told, now.told);
    bars.forEach((one, row) => one.set(now.resources[row], now.residents));
    setAttribute(svg, "aria-label", `One SM of the ${model.get("device")}. ${now.told} ${
      now.resources.map((one) => `${one.title}: ${inFigures(
        now.residents.length * one.each / one.unit)} of ${
        inFigures(one.most / one.unit)} used.`).join(" ")}`);
  }

  el.classList.add("ck-widget", "ck-residency");
  el.append(element("p", {}, element("strong", {}, "Blocks move into one SM")), top.node,
    walking.node, told, svg, element("p", { class: "ck-quiet" }, "The numbers in the "
      + "bars are those of the blocks. What a block needs is set by the sliders."));
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { walking.stop(); release(); unfollow(); };
}

export default { render };
