// Roofline: kernels by operations a byte, under the roof of a GPU that can be chosen.

import {
  drawn, element, follow, keepKeys, setAttribute, setText, show, write,
} from "./shared.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [740, 340, 62, 28, 26, 44];
const MOST = 12;
const [LEAST_X, MOST_X] = [-2, 4]; // powers of ten
const TRAITS = ["points", "device", "kind", "timed_on"];
const SHAPES = [
  (x, y) => `M${x - 5} ${y}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z`,
  (x, y) => `M${x - 5} ${y - 5}h10v10h-10z`,
  (x, y) => `M${x} ${y - 6}l6 11h-12z`,
  (x, y) => `M${x} ${y - 7}l7 7l-7 7l-7 -7z`,
];

function digits(number) {
  return Number(number.toPrecision(3)).toLocaleString("en-US",
    { maximumFractionDigits: 12 });
}

export function roofOf({ devices, device, kind }) {
  const { gbs, tflops } = devices[device];
  const peak = tflops[kind];
  return { gbs, peak, ridge: 1e3 * peak / gbs,
    at: (intensity) => Math.min(peak, 1e-3 * gbs * intensity) };
}

export function linesOf(state) {
  const { device, timed_on: timed } = state;
  const roof = roofOf(state);
  return state.points.map(([name, intensity, reached]) => {
    const side = intensity < roof.ridge ? "memory" : "arithmetic";
    const text = `${name}: bound by ${side}, at most ${digits(roof.at(intensity))} TFLOP/s`;
    if (reached === null) return `${text}.`;
    return device === timed ? `${text}; it reaches ${digits(reached)}.`
      : `${text}; its time is of the ${timed}.`;
  });
}

// The points as they can be drawn: a time of another GPU is none under this roof.
const drawnOf = ({ points, device, timed_on: timed }) => points.map(([name, x, reached]) =>
  [name, x, device === timed ? reached : null]);

// Places on the picture, and the powers of ten of its axes.
function frame(state) {
  const roof = roofOf(state);
  const rates = drawnOf(state).map(([, x, y]) => y ?? roof.at(x));
  const least = Math.floor(Math.log10(Math.min(...rates, roof.at(10 ** LEAST_X))));
  const most = Math.ceil(Math.log10(Math.max(roof.peak * 1.2, ...rates)));
  const across = (WIDTH - LEFT - RIGHT) / (MOST_X - LEAST_X);
  const down = (HEIGHT - TOP - BOTTOM) / (most - least);
  const inside = (x) => Math.min(Math.max(x, 10 ** LEAST_X), 10 ** MOST_X);
  return { roof, least, most,
    x: (intensity) => LEFT + (Math.log10(inside(intensity)) - LEAST_X) * across,
    y: (rate) => HEIGHT - BOTTOM
      - (Math.log10(Math.max(rate, 10 ** least)) - least) * down };
}

const text = (x, y, words, anchor = "start", kind = "") =>
  drawn("text", { x, y, "text-anchor": anchor, class: kind }, words);

function axes() {
  const bottom = HEIGHT - BOTTOM;
  const ticks = Array.from({ length: 12 }, () => ({
    line: drawn("path", { class: "ck-grid" }), name: text(LEFT - 6, 0, "", "end") }));
  const across = Array.from({ length: MOST_X - LEAST_X + 1 }, (_, number) => {
    const x = LEFT + number * (WIDTH - LEFT - RIGHT) / (MOST_X - LEAST_X);
    return drawn("g", {}, drawn("path", { class: "ck-grid", d: `M${x} ${TOP}V${bottom}` }),
      text(x, bottom + 16, digits(10 ** (LEAST_X + number)), "middle"));
  });
  const node = drawn("g", {}, ...across, ...ticks.flatMap((one) => [one.line, one.name]),
    text(WIDTH / 2, HEIGHT - 8, "arithmetic intensity (FLOP per byte)", "middle"),
    text(4, TOP - 12, "TFLOP/s"));
  const set = (at) => ticks.forEach((one, number) => {
    const power = at.least + number;
    [one.line, one.name].forEach((part) => show(part, power <= at.most));
    if (power > at.most) return;
    const y = at.y(10 ** power);
    setAttribute(one.line, "d", `M${LEFT} ${y}H${WIDTH - RIGHT}`);
    setAttribute(one.name, "y", y + 4);
    setText(one.name, digits(10 ** power));
  });
  return { node, set };
}

// Heights for the names of points, so that none covers another.
function besides(places) {
  const taken = [];
  return places.map(([x, y]) => {
    let height = y + 14;
    const near = ([a, b]) => Math.abs(a - x) < 170 && Math.abs(b - height) < 13;
    while (taken.some(near)) height += 13;
    taken.push([x, height]);
    return height;
  });
}

function picture() {
  const back = axes();
  const line = drawn("path", { class: "ck-roof" });
  const points = Array.from({ length: MOST }, () => ({
    up: drawn("path", { class: "ck-up" }), mark: drawn("path"), name: text(0, 0, "") }));
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}` }, back.node,
    line, ...points.flatMap((one) => [one.up, one.mark, one.name]));
  const set = (state) => {
    const at = frame(state);
    const [low, high] = [10 ** LEAST_X, 10 ** MOST_X];
    const ridge = `${at.x(at.roof.ridge)} ${at.y(at.roof.peak)}`;
    back.set(at);
    setAttribute(line, "d", `M${at.x(low)} ${at.y(at.roof.at(low))}L${ridge}H${at.x(high)}`);
    const drawnPoints = drawnOf(state);
    const places = drawnPoints.map(([, intensity, reached]) =>
      [at.x(intensity), at.y(reached ?? at.roof.at(intensity))]);
    const heights = besides(places);
    points.forEach((one, number) => {
      const point = drawnPoints[number];
      Object.values(one).forEach((part) => show(part, Boolean(point)));
      if (!point) return;
      const [name, intensity, reached] = point;
      const [x, y] = places[number];
      setAttribute(one.up, "d", `M${x} ${HEIGHT - BOTTOM}V${at.y(at.roof.at(intensity))}`);
      setAttribute(one.mark, "d", SHAPES[number % SHAPES.length](x, y));
      setAttribute(one.mark, "class", reached === null ? "ck-bound" : "ck-timed");
      const left = x > WIDTH - 160;
      setAttribute(one.name, "x", x + (left ? -10 : 10));
      setAttribute(one.name, "text-anchor", left ? "end" : "start");
      setAttribute(one.name, "y", heights[number]);
      setText(one.name, name);
    });
    setAttribute(svg, "aria-label", `Roofline of the ${state.device}. ${
      linesOf(state).join(" ")}`);
  };
  return { svg, set };
}

function adding(add) {
  const field = (label, value) => {
    const input = element("input", { type: "text", value, size: 10 });
    return { input, node: element("label", { class: "ck-slider" }, `${label} `, input) };
  };
  const [name, flops, bytes] = [field("kernel", "mine"), field("FLOP", "2"),
    field("bytes", "8")];
  const button = element("button", { type: "submit" }, "Add");
  const told = element("span", { role: "status" });
  const node = element("form", { class: "ck-controls" }, name.node, flops.node, bytes.node,
    button, told);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = [flops, bytes].map(({ input }) => Number(input.value));
    const sound = values.every((value) => Number.isFinite(value) && value > 0);
    setText(told, sound ? add(name.input.value.trim() || "mine", values[0] / values[1])
      : "FLOP and bytes are numbers above 0.");
  });
  return node;
}

function render({ model, el }) {
  const stateOf = () => Object.fromEntries([...TRAITS, "devices"].map((name) =>
    [name, model.get(name)]));
  const select = (label, names, change) => {
    const box = element("select", {}, ...names.map((value) =>
      element("option", { value }, value.replace("_", " "))));
    box.addEventListener("change", () => change(box.value));
    return { box, node: element("label", { class: "ck-slider" }, `${label} `, box) };
  };
  const devices = model.get("devices");
  const device = select("GPU", Object.keys(devices), (value) => {
    const kinds = devices[value].tflops;
    // The arithmetic first: at no time has the GPU one that it lacks.
    const kept = model.get("kind") in kinds ? model.get("kind") : "fp32";
    write(model, { kind: kept, device: value });
  });
  const kinds = Object.keys(Object.values(devices).reduce((all, one) =>
    ({ ...all, ...one.tflops }), {}));
  const kind = select("arithmetic", kinds, (value) => write(model, { kind: value }));
  const add = (name, intensity) => {
    if (model.get("points").length >= MOST) return `At most ${MOST} kernels.`;
    write(model, { points: [...model.get("points"), [name, intensity, null]] });
    return `Added ${name}: ${digits(intensity)} FLOP per byte.`;
  };
  const view = picture();
  const roof = element("p", { role: "status" });
  const lines = Array.from({ length: MOST }, () => element("li"));

  function update() {
    const state = stateOf();
    const found = roofOf(state);
    device.box.value = state.device;
    [...kind.box.options].forEach((option) => {
      option.disabled = !(option.value in state.devices[state.device].tflops);
    });
    kind.box.value = state.kind;
    setText(roof, `${state.device}: ${digits(found.gbs)} GB/s up to ${
      digits(found.ridge)} FLOP per byte, then ${digits(found.peak)} TFLOP/s.`);
    view.set(state);
    const told = linesOf(state);
    lines.forEach((line, number) => {
      line.hidden = number >= told.length;
      setText(line, told[number] ?? "");
    });
  }

  el.classList.add("ck-widget", "ck-roofline");
  el.append(element("p", {}, element("strong", {}, "Roofline: what bounds a kernel?")),
    element("div", { class: "ck-controls" }, device.node, kind.node), roof, view.svg,
    element("ul", {}, ...lines), adding(add),
    element("p", { class: "ck-quiet" }, "Filled marks have a time; empty ones are what "
      + "the roof allows. Counted bytes are those that warps ask for: caches can lift a "
      + "kernel over its mark."));
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
