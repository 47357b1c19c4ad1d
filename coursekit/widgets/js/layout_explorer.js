// A layout to change: its offsets as a table, one of them spelled out.

import {
  drawn, element, follow, keepKeys, plural, setAttribute, setText, show, slider, write,
} from "./shared.js";
import {
  layoutOf, offsetOf, plainOffset, positionsOf,
} from "./layout_rules.js";

const [MOST, SECTOR, BANKS] = [32, 8, 32];
const [WIDTH, HEIGHT, LEFT, TOP] = [34, 26, 40, 24];
const TRAITS = ["text", "bits", "base", "shift", "element"];

export const rules = { layoutOf, offsetOf, plainOffset, positionsOf };

function met(words) {
  const banks = new Set(words.map((word) => word % BANKS)).size;
  return `${plural(banks, "bank")} with ${words.length} words`;
}

// The sentences of layout_explorer.py.
export function describe(state) {
  const layout = layoutOf(state.text);
  const { rows, cols } = layout;
  const { element: chosen } = state;
  const [row, col] = [chosen % rows, Math.floor(chosen / rows)];
  const at = (r, c) => offsetOf(layout, state, c * rows + r);
  const terms = positionsOf(layout, chosen).map((position, mode) =>
    `${position} * ${layout.strides[mode]}`);
  const told = `(${row}, ${col}): ${terms.join(" + ")} = ${plainOffset(layout, chosen)}`;
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  return {
    layout, row, col, offset: at(row, col),
    formula: state.bits ? `${told}, swizzled ${at(row, col)}` : told,
    banks: `As 4-byte words: row ${row} meets ${met(range(cols).map((c) => at(row, c)))
    }; column ${col} meets ${met(range(rows).map((r) => at(r, col)))}.`,
  };
}

function cell(choose) {
  const box = drawn("rect", { width: WIDTH - 3, height: HEIGHT - 3 });
  const text = drawn("text", { x: WIDTH / 2 - 1.5, y: 16, class: "ck-middle" });
  const node = drawn("g", {}, box, text);
  node.addEventListener("click", () => choose(node.number));
  return { node, text };
}

function picture(choose) {
  const svg = drawn("svg", { role: "img" });
  const cells = [];
  const headsOf = (place) => Array.from({ length: MOST }, (_, number) => {
    const [x, y] = place(number);
    return drawn("text", { x, y, class: "ck-quiet" }, String(number));
  });
  const heads = {
    rows: headsOf((n) => [8, TOP + n * HEIGHT + 16]),
    cols: headsOf((n) => [LEFT + n * WIDTH + 10, 14]),
  };
  svg.append(...heads.rows, ...heads.cols);
  const draw = (state, { layout, offset: chosen }) => {
    const { rows, cols } = layout;
    while (cells.length < rows * cols) {
      cells.push(cell(choose));
      svg.append(cells.at(-1).node);
    }
    heads.rows.forEach((label, number) => show(label, number < rows));
    heads.cols.forEach((label, number) => show(label, number < cols));
    cells.forEach(({ node, text }, number) => {
      show(node, number < rows * cols);
      if (number >= rows * cols) return;
      const [row, col] = [number % rows, Math.floor(number / rows)];
      const offset = offsetOf(layout, state, number);
      node.number = number;
      setText(text, String(offset));
      setAttribute(node, "transform",
        `translate(${LEFT + col * WIDTH} ${TOP + row * HEIGHT})`);
      const mark = number === state.element ? " ck-chosen"
        : offset % BANKS === chosen % BANKS ? " ck-same" : "";
      setAttribute(node, "class",
        `ck-cell ck-block${Math.floor(offset / SECTOR) % 6}${mark}`);
    });
    setAttribute(svg, "viewBox",
      `0 0 ${Math.max(LEFT + cols * WIDTH, 420)} ${TOP + rows * HEIGHT}`);
    svg.style.maxWidth = `${Math.max(LEFT + cols * WIDTH, 420)}px`;
  };
  return { svg, draw };
}

// What keeps a typed text from being shown; "" where nothing does.
function refusal(text) {
  const layout = layoutOf(text);
  if (!layout) return `"${text}" is no layout. Write for example (4,8):(8,1).`;
  if (Math.max(layout.rows, layout.cols) > MOST) {
    return `${layout.rows} rows and ${layout.cols} columns: at most ${MOST} fit.`;
  }
  return "";
}

function typedLayout(model, told) {
  const input = element("input", { type: "text", spellcheck: "false" });
  input.addEventListener("change", () => {
    const text = input.value.replaceAll(" ", "");
    const problem = refusal(text);
    setText(told, problem);
    if (problem) return;
    const { rows, cols } = layoutOf(text);
    write(model, { text, element: Math.min(model.get("element"), rows * cols - 1) });
  });
  return { input, node: element("label", { class: "ck-slider" },
    element("span", { class: "ck-name" }, "layout"), input) };
}

function swizzleSliders(model) {
  const change = (name) => (value) => {
    const now = { bits: model.get("bits"), shift: model.get("shift"), [name]: value };
    if (now.shift < now.bits) now[name === "bits" ? "shift" : "bits"] = value;
    write(model, name === "base" ? { base: value } : now);
  };
  return {
    bits: slider("swizzle: bits", 0, 5, change("bits")),
    base: slider("base", 0, 4, change("base")),
    shift: slider("shift", 0, 8, change("shift")),
  };
}

// Left and right go down a column; page up and down go to the next one.
function elementSlider(model) {
  const chosen = slider("element", 0, 0, (value) => write(model, { element: value }));
  chosen.input.addEventListener("keydown", (event) => {
    const way = { PageUp: 1, PageDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const { rows, cols } = layoutOf(model.get("text"));
    const wanted = model.get("element") + way * rows;
    write(model, { element: Math.min(rows * cols - 1, Math.max(0, wanted)) });
  });
  return chosen;
}

function render({ model, el }) {
  const told = element("p", { role: "alert", class: "ck-refusal" });
  const typed = typedLayout(model, told);
  const sliders = swizzleSliders(model);
  const chosen = elementSlider(model);
  const view = picture((number) => write(model, { element: number }));
  const formula = element("p", { role: "status", class: "ck-formula" });
  const banks = element("p");
  const legend = element("p", { class: "ck-legend" },
    "A colour is a sector of 8 words. Outlined: the chosen element, and those of its bank.");

  function update() {
    const state = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
    const words = describe(state);
    const last = words.layout.rows * words.layout.cols - 1;
    if (document.activeElement !== typed.input) typed.input.value = state.text;
    for (const [name, one] of Object.entries(sliders)) one.set(state[name]);
    chosen.set(state.element, words.formula, last);
    view.draw(state, words);
    setText(formula, words.formula);
    setText(banks, words.banks);
    setAttribute(view.svg, "aria-label", `Offsets of ${state.text}. ${words.formula}. ${
      words.banks}`);
  }

  el.classList.add("ck-widget", "ck-layout-explorer");
  el.append(
    element("div", { class: "ck-controls" }, typed.node,
      ...Object.values(sliders).map((one) => one.node)),
    told, view.svg, chosen.node, formula, banks, legend);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
