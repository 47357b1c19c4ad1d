// Layout flipper: one run of memory, and the matrix that it is read as.

import {
  button, element, follow, keepKeys, setAttribute, setText, slider, write,
} from "./shared.js";

const [MOST, LONGEST] = [4, 6];
const TRAITS = ["rows", "cols", "ld", "order", "trans", "row", "col"];
const stateOf = (model) =>
  Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));

export function shapeOf({ rows, cols, trans }) {
  return trans === "N" ? [rows, cols] : [cols, rows];
}

export function offsetOf({ ld, order, trans }, row, col) {
  const [i, j] = trans === "N" ? [row, col] : [col, row];
  return order === "COL" ? i + j * ld : i * ld + j;
}

// The nearest state that there is: columns must not overlap.
export function settled(state) {
  const least = state.order === "COL" ? state.rows : state.cols;
  const ld = Math.max(state.ld, least);
  const [rows, cols] = shapeOf(state);
  return { ...state, ld, row: Math.min(state.row, rows - 1),
    col: Math.min(state.col, cols - 1) };
}

export function toldOf(state) {
  const { row, col, ld, order, trans } = state;
  const [i, j] = trans === "N" ? [row, col] : [col, row];
  const sum = order === "COL" ? `${i} + ${j} * ${ld}` : `${i} * ${ld} + ${j}`;
  return `Row ${row}, column ${col} lies at ${sum} = ${offsetOf(state, row, col)}.`;
}

function chooser(label, names, changed) {
  const select = element("select", {}, ...names.map(([value, text]) =>
    element("option", { value }, text)));
  select.addEventListener("change", () => changed(select.value));
  return { select, node: element("label", {}, `${label} `, select) };
}

function render({ model, el }) {
  // A slider that asked for too little goes back, though nothing has changed.
  const set = (changes) => {
    write(model, settled({ ...stateOf(model), ...changes }));
    update();
  };

  const sliders = [["rows", 1, MOST], ["cols", 1, MOST], ["ld", 1, LONGEST]].map(
    ([name, least, most]) => [name, slider(name, least, most,
      (value) => set({ [name]: value }))]);
  const order = chooser("order", [["COL", "COL: columns are contiguous"],
    ["ROW", "ROW: rows are contiguous"]], (value) => set({ order: value }));
  const trans = chooser("op", [["N", "N: as it is"], ["T", "T: transposed"]],
    (value) => set({ trans: value }));
  const cells = Array.from({ length: MOST * LONGEST }, () =>
    element("span", { class: "ck-memory-cell" }));
  const memory = element("div", { class: "ck-memory", role: "img" }, ...cells);
  const places = Array.from({ length: MOST }, (_, row) =>
    Array.from({ length: MOST }, (__, col) => button("", () => set({ row, col }))));
  const lines = places.map((line) => element("tr", {},
    ...line.map((place) => element("td", {}, place))));
  const matrix = element("table", { class: "ck-matrix", "aria-label": "The matrix" },
    element("tbody", {}, ...lines));
  const told = element("p", { role: "status", class: "ck-summary" });

  function update() {
    const state = stateOf(model);
    const [rows, cols] = shapeOf(state);
    sliders.forEach(([name, { set: shown }]) => shown(state[name]));
    order.select.value = state.order;
    trans.select.value = state.trans;
    const chosen = offsetOf(state, state.row, state.col);
    const used = new Set();
    places.forEach((line, row) => {
      lines[row].hidden = row >= rows;
      line.forEach((place, col) => {
        place.parentElement.hidden = row >= rows || col >= cols;
        if (place.parentElement.hidden) return;
        const offset = offsetOf(state, row, col);
        used.add(offset);
        setText(place, String(offset));
        setAttribute(place, "class", `ck-run${Math.floor(offset / state.ld)}`);
        setAttribute(place, "aria-pressed", String(offset === chosen));
        setAttribute(place, "aria-label",
          `row ${row}, column ${col}, at ${offset}`);
      });
    });
    const last = Math.max(...used);
    cells.forEach((cell, place) => {
      cell.hidden = place > last;
      setText(cell, String(place));
      const run = used.has(place) ? `ck-run${Math.floor(place / state.ld)}` : "ck-gap";
      setAttribute(cell, "class",
        `ck-memory-cell ${run}${place === chosen ? " ck-chosen" : ""}`);
    });
    const gaps = last + 1 - used.size;
    setAttribute(memory, "aria-label", `Memory of ${last + 1} places, of which ${
      gaps} are gaps; place ${chosen} is marked.`);
    setText(told, toldOf(state));
  }

  el.classList.add("ck-widget", "ck-layout-flipper");
  el.append(
    element("p", {}, element("strong", {}, "Memory, read as a matrix")),
    element("div", { class: "ck-controls" }, ...sliders.map(([, one]) => one.node)),
    element("div", { class: "ck-controls" }, order.node, trans.node),
    memory, matrix, told,
  );
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
