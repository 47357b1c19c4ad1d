// Variables of a program as boxes, its pointers as arrows, one step for each SHOW.
import {
  button, drawn, element, follow, keepKeys, setText, slider, write,
} from "./shared.js";

const cellWidth = (size, count) => (count === 1 ? size.cell : size.cells / count);

function label(x, y, text, attributes = {}) {
  return drawn("text", { x, y, ...attributes }, text);
}

function rowOf(size, row, box) {
  const y = size.top + size.row * row;
  const wide = cellWidth(size, box.cells.length);
  const cells = box.cells.flatMap((text, n) => {
    const x = size.left + wide * n;
    return [drawn("rect", { x, y, width: wide, height: size.height }),
      label(x + wide / 2, y + 19, text, { class: "ck-mono ck-middle" })];
  });
  return drawn("g", { class: box.chosen ? "ck-box ck-chosen" : "ck-box" },
    label(8, y + 14, box.name, { class: "ck-strong" }),
    label(8, y + 28, box.kind, { class: "ck-small" }), ...cells,
    label(size.place, y + 19, box.place, { class: "ck-mono ck-end" }));
}

function arrowOf(size, number, [source, target, cell], boxes) {
  const wide = cellWidth(size, boxes[target].cells.length);
  const start = size.left + size.cell;
  const y = size.top + size.row * source + size.height / 2;
  const lane = size.lane + size.step * number;
  const end = size.left + wide * (cell + 0.5);
  const foot = size.top + size.row * target + size.height;
  return drawn("g", { class: "ck-arrow" },
    drawn("path", { class: "ck-way",
      d: `M${start} ${y}H${lane}V${foot + 12}H${end}V${foot + 7}` }),
    drawn("path", { class: "ck-head",
      d: `M${end - 5} ${foot + 8}H${end + 5}L${end} ${foot}Z` }));
}

const HEADS = ["variable", "type and size", "address", "holds", "points to"];

function tableOf(boxes) {
  const rows = boxes.map((box) => element("tr", {},
    element("th", { scope: "row" }, box.name),
    ...[box.kind, box.place, box.cells.join(", "), box.points.replace("points to ", "")]
      .map((text) => element("td", {}, text))));
  return [element("thead", {}, element("tr", {}, ...HEADS.map((text) =>
    element("th", { scope: "col" }, text)))), element("tbody", {}, ...rows)];
}

function render({ model, el }) {
  const [size, scenes] = [model.get("sizes"), model.get("scenes")];
  const last = scenes.length - 1;
  const go = (step) => write(model, { step: Math.max(0, Math.min(last, step)) });
  const steps = slider("step", 1, last + 1, (number) => go(number - 1));
  const rows = Math.max(...scenes.map((scene) => scene.boxes.length));
  const picture = drawn("svg", { role: "img", class: "ck-memory-picture",
    viewBox: `0 0 ${size.width} ${size.top + size.row * rows + 8}` });
  const told = element("p", { role: "status", class: "ck-told" });
  const table = element("table");

  function update() {
    const step = Math.min(model.get("step"), last);
    const { boxes, arrows, told: words } = scenes[step];
    steps.set(step + 1, `step ${step + 1} of ${scenes.length}: ${words}`);
    picture.setAttribute("aria-label", boxes.map((box) => box.words).join(" "));
    picture.replaceChildren(label(8, 20, "variable"), label(size.left, 20, "what it holds"),
      label(size.place, 20, "address", { class: "ck-end" }),
      ...boxes.map((box, row) => rowOf(size, row, box)),
      ...arrows.map((arrow, n) => arrowOf(size, n, arrow, boxes)));
    table.replaceChildren(...tableOf(boxes));
    setText(told, `Step ${step + 1} of ${scenes.length}. ${words}`);
  }

  el.classList.add("ck-widget", "ck-memory");
  el.append(element("p", {}, element("strong", {}, "Memory of the program")),
    element("div", { class: "ck-controls" },
      button("Back", () => go(model.get("step") - 1)),
      button("Forward", () => go(model.get("step") + 1)), steps.node),
    told, picture, element("details", {}, element("summary", {}, "As a table"), table));
  const release = keepKeys(el);
  const unfollow = follow(model, ["step"], update);
  return () => { release(); unfollow(); };
}

export default { render };
