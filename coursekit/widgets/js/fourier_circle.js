// Fourier circle: the values as arrows head to tail, turned by a chosen frequency.
//
// The notebook computes all walks. A bar appears for a frequency that has been visited.

import {
  button, drawn, element, follow, keepKeys, setAttribute, setText, slider, write,
} from "./shared.js";

const [LEFT, RIGHT, BASE, TALL] = [330, 620, 250, 210];

const sentence = (k, [length, words]) =>
  `k = ${k}: the arrows add up to ${words}, of length ${Number(length.toPrecision(4))}.`;

function bars(sums) {
  const step = (RIGHT - LEFT) / sums.length;
  const most = Math.max(...sums.map(([length]) => length), 1e-300);
  const all = sums.map(([length], k) => {
    const height = Math.max((TALL * length) / most, 1);
    return drawn("rect", { x: LEFT + k * step + 1, y: BASE - height,
      width: Math.max(step - 2, 2), height, class: "ck-hidden" });
  });
  const axis = drawn("path", { d: `M${LEFT} ${BASE} H${RIGHT}`, class: "ck-axis" });
  const label = drawn("text", { x: LEFT, y: BASE + 20 });
  setText(label, `length of the sum, k from 0 to ${sums.length - 1}`);
  return { node: drawn("g", {}, axis, label, ...all), all };
}

function render({ model, el }) {
  const [walks, sums] = [model.get("walks"), model.get("sums")];
  const last = walks.length - 1;
  const visited = new Set();
  const go = (k) => write(model, { frequency: Math.max(0, Math.min(k, last)) });
  const choice = slider("frequency k", 0, last, go);
  const controls = element("div", { class: "ck-controls" },
    button("Slower", () => go(model.get("frequency") - 1)),
    button("Faster", () => go(model.get("frequency") + 1)), choice.node);
  const told = element("p", { role: "status", class: "ck-summary" });
  const walk = drawn("polyline", { class: "ck-walk" });
  const sum = drawn("path", { class: "ck-sum" });
  const start = drawn("circle", { r: 5, cx: walks[0][0][0], cy: walks[0][0][1] });
  const end = drawn("circle", { r: 5, class: "ck-end" });
  const { node, all } = bars(sums);
  const svg = drawn("svg", { role: "img", viewBox: "0 0 640 300" },
    walk, sum, start, end, node);
  svg.style.maxWidth = "640px";

  function update() {
    const k = Math.min(model.get("frequency"), last);
    visited.add(k);
    const words = sentence(k, sums[k]);
    const [from, to] = [walks[k][0], walks[k].at(-1)];
    choice.set(k, words);
    setText(told, words);
    setAttribute(walk, "points", walks[k].map((p) => p.join(",")).join(" "));
    setAttribute(sum, "d", `M${from.join(" ")} L${to.join(" ")}`);
    setAttribute(end, "cx", to[0]);
    setAttribute(end, "cy", to[1]);
    all.forEach((bar, place) => setAttribute(bar, "class",
      place === k ? "ck-now" : visited.has(place) ? "ck-seen" : "ck-hidden"));
    setAttribute(svg, "aria-label", words);
  }

  el.classList.add("ck-widget", "ck-fourier-circle");
  el.append(element("p", {}, element("strong", {}, "Turn the values, add the arrows")),
    controls, told, svg);
  const release = keepKeys(el);
  const unfollow = follow(model, ["frequency"], update);
  return () => { release(); unfollow(); };
}

export default { render };
