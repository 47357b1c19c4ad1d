// Chip explorer: two boards side by side, as a whole or by what one SM of each has.

import { element, follow, keepKeys, setText, write } from "./shared.js";

const TRAITS = ["left", "right", "view"];
const VIEWS = ["whole board", "one SM"];
const SIDES = ["left", "right"];
const UNKNOWN = "-";

function digits(number) {
  if (number >= 100) return Math.floor(number + 0.5).toLocaleString("en-US");
  return Number(number.toPrecision(3)).toLocaleString("en-US",
    { maximumFractionDigits: 12 });
}

function valueOf({ devices, figures, view }, name, number) {
  const value = devices[name].values[number];
  const whole = value === null || view === VIEWS[0] || !figures[number][2];
  return whole ? value : value / devices[name].sms;
}

// For each figure: title, both values as numbers and as texts, and their ratio.
export function rowsOf(state) {
  const shown = (value, unit) =>
    (value === null ? UNKNOWN : `${digits(value)} ${unit}`.trimEnd());
  return state.figures.map(([title, unit], number) => {
    const values = SIDES.map((side) => valueOf(state, state[side], number));
    const [one, other] = values;
    return { title, values, texts: values.map((value) => shown(value, unit)),
      ratio: one && other ? digits(one / other) : UNKNOWN };
  });
}

function select(label, names, changed) {
  const box = element("select", {}, ...names.map((value) =>
    element("option", { value }, value)));
  box.addEventListener("change", () => changed(box.value));
  return { box, node: element("label", { class: "ck-slider" }, `${label} `, box) };
}

let groups = 0; // radio buttons of two widgets on a page must not be one group

function radios(changed) {
  groups += 1;
  const inputs = VIEWS.map((value) => {
    const input = element("input", { type: "radio", name: `ck-chip-${groups}`, value });
    input.addEventListener("change", () => changed(value));
    return input;
  });
  const node = element("fieldset", { class: "ck-view" },
    element("legend", {}, "numbers of"), ...inputs.map((input, number) =>
      element("label", { class: "ck-slider" }, input, VIEWS[number])));
  return { node, set: (view) => inputs.forEach((input) => {
    input.checked = input.value === view;
  }) };
}

function board(figures) {
  const heads = SIDES.map(() => element("th", { scope: "col" }));
  const rows = figures.map(([title]) => {
    const cells = SIDES.map(() => {
      const bar = element("span", { class: "ck-bar", "aria-hidden": "true" });
      const words = element("span");
      return { bar, words, node: element("td", {}, words,
        element("span", { class: "ck-track", "aria-hidden": "true" }, bar)) };
    });
    const ratio = element("td", { class: "ck-ratio" });
    return { cells, ratio, node: element("tr", {},
      element("th", { scope: "row" }, title), ...cells.map((one) => one.node), ratio) };
  });
  const node = element("table", {},
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "figure"),
      ...heads, element("th", { scope: "col" }, "left / right"))),
    element("tbody", {}, ...rows.map((row) => row.node)));
  const set = (state) => {
    heads.forEach((head, side) => setText(head, state[SIDES[side]]));
    rowsOf(state).forEach(({ values, texts, ratio }, number) => {
      const most = Math.max(...values.map((value) => value ?? 0));
      rows[number].cells.forEach((cell, side) => {
        setText(cell.words, texts[side]);
        const share = most ? 100 * (values[side] ?? 0) / most : 0;
        cell.bar.style.width = `${share.toFixed(1)}%`;
      });
      setText(rows[number].ratio, ratio);
    });
  };
  return { node, set };
}

function render({ model, el }) {
  const stateOf = () => Object.fromEntries([...TRAITS, "devices", "figures"].map((name) =>
    [name, model.get(name)]));
  const names = Object.keys(model.get("devices"));
  const boxes = SIDES.map((side) =>
    select(`${side} board`, names, (value) => write(model, { [side]: value })));
  const view = radios((value) => write(model, { view: value }));
  const told = element("p", { role: "status" });
  const table = board(model.get("figures"));

  function update() {
    const state = stateOf();
    boxes.forEach(({ box }, number) => { box.value = state[SIDES[number]]; });
    view.set(state.view);
    setText(told, `${state.left} beside ${state.right}, ${state.view}.`);
    table.set(state);
  }

  el.classList.add("ck-widget", "ck-chip");
  el.append(element("p", {}, element("strong", {}, "Two boards, side by side")),
    element("div", { class: "ck-controls" }, ...boxes.map((one) => one.node), view.node),
    told, table.node, element("p", { class: "ck-quiet" }, "Numbers of one SM are those "
      + "of the board, divided by its SMs. A bar is full for the larger of both."));
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
