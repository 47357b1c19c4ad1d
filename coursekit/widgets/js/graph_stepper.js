// Graph stepper: values arrive forwards, then gradients flow back, edge by edge.
//
// The notebook computes all steps; the view shows one of them.

import {
  button, drawn, element, follow, keepKeys, setAttribute, setText, slider, write,
} from "./shared.js";

const [WIDTH, HEIGHT] = [108, 46];

function box({ name, x, y }) {
  const value = drawn("text", { x: x + 7, y: y + 18 });
  const gradient = drawn("text", { x: x + 7, y: y + 36 });
  const frame = drawn("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5 });
  const node = drawn("g", {}, frame, value, gradient);
  const set = (v, g) => {
    setText(value, v === "" ? name : `${name} = ${v}`);
    setText(gradient, g === "" ? "" : `gradient ${g}`);
    setAttribute(frame, "class", g === "" ? (v === "" ? "ck-open" : "ck-value-known")
      : "ck-gradient-known");
  };
  return { node, set };
}

export const wordsOf = (graph, step) => graph.nodes.map(({ name }, place) => {
  const [value, gradient] = [step.values[place], step.gradients[place]];
  return `${name} ${value || "open"}${gradient ? `, gradient ${gradient}` : ""}`;
}).join("; ");

function render({ model, el }) {
  const graph = model.get("graph");
  const last = graph.steps.length - 1;
  const go = (step) => write(model, { step: Math.max(0, Math.min(step, last)) });
  const steps = slider("step", 0, last, go);
  const controls = element("div", { class: "ck-controls" },
    button("Back", () => go(model.get("step") - 1)),
    button("Next", () => go(model.get("step") + 1)), steps.node);
  const told = element("p", { role: "status", class: "ck-summary" });
  const edges = graph.edges.map(({ path }) => drawn("path", { d: path }));
  const boxes = graph.nodes.map(box);
  const svg = drawn("svg", { role: "img",
    viewBox: `0 0 ${graph.width} ${graph.height}` },
  ...edges, ...boxes.map(({ node }) => node));
  svg.style.maxWidth = `${graph.width}px`;

  function update() {
    const number = Math.min(model.get("step"), last);
    const now = graph.steps[number];
    steps.set(number, `${number}: ${now.told}`, last);
    setText(told, now.told);
    edges.forEach((edge, place) =>
      setAttribute(edge, "class", place === now.edge ? "ck-flow" : "ck-edge"));
    boxes.forEach(({ set }, place) => set(now.values[place], now.gradients[place]));
    setAttribute(svg, "aria-label", wordsOf(graph, now));
  }

  el.classList.add("ck-widget", "ck-graph-stepper");
  el.append(element("p", {}, element("strong", {}, "Values forwards, gradients back")),
    controls, told, svg);
  const release = keepKeys(el);
  const unfollow = follow(model, ["step"], update);
  return () => { release(); unfollow(); };
}

export default { render };
