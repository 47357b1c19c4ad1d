// Draw a digit: a field, what the network sees of it, and how likely each digit is.
// The drawing goes to Python, stroke by stroke; what comes back is shown.

import {
  button, element, follow, keepKeys, setAttribute, setText, write,
} from "./shared.js";
import { drawingField } from "./draw_digit_field.js";

const CLASSES = 10;
const OWN = -1;

function table() {
  const rows = Array.from({ length: CLASSES }, (_, digit) => {
    const bar = element("span", { class: "ck-length", "aria-hidden": "true" });
    const text = element("span");
    const node = element("tr", {}, element("th", { scope: "row" }, String(digit)),
      element("td", {}, element("div", { class: "ck-bar" }, bar, text)));
    return { node, bar, text };
  });
  const heads = ["digit", "how likely"].map((text) =>
    element("th", { scope: "col" }, text));
  const node = element("table", {}, element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows.map((row) => row.node)));
  const set = ({ chances, percents }) => rows.forEach(({ node: row, bar, text }, digit) => {
    const chance = chances[digit] ?? 0;
    bar.style.width = `${(120 * chance).toFixed(1)}px`;
    setText(text, percents[digit] ?? "");
    row.classList.toggle("ck-best", chances.length > 0
      && digit === chances.indexOf(Math.max(...chances)));
  });
  return { node, set };
}

function choice(changed) {
  const options = ["none", ...Array.from({ length: CLASSES }, (_, k) => String(k))];
  const box = element("select", {}, ...options.map((text, k) =>
    element("option", { value: k + OWN }, text)));
  box.addEventListener("change", () => changed(Number(box.value)));
  const node = element("label", { class: "ck-slider" }, "example ", box);
  return { node, set: (example) => { box.value = String(example); } };
}

export function titleOf({ example, strokes }) {
  if (example !== OWN) return `An example, ${example}: draw over it.`;
  return strokes.length ? `The field has ${strokes.length === 1 ? "one stroke"
    : `${strokes.length} strokes`}.` : "The field is empty.";
}

function render({ model, el }) {
  const change = (strokes, example = OWN) => write(model, {
    drawing: { strokes, example, turn: model.get("drawing").turn + 1 },
  });
  const own = () => { // an example gives way to the first stroke
    const { strokes, example } = model.get("drawing");
    return example === OWN ? strokes : [];
  };
  const undo = () => change(own().slice(0, -1));
  const field = drawingField((stroke) => change([...own(), stroke]), undo);
  const pick = choice((example) =>
    change(example === OWN ? [] : model.get("examples")[example], example));
  const seen = element("img", { class: "ck-seen", width: 196, height: 196 });
  const [bars, told] = [table(), element("p", { role: "status", class: "ck-told" })];
  const trouble = element("p", { class: "ck-trouble" });
  const [title, size] = [1, 2].map(() => element("p", { class: "ck-help" }));
  const part = (head, ...nodes) => element("div", {},
    element("p", { class: "ck-head" }, head), ...nodes);

  function update() {
    const [drawing, reading] = [model.get("drawing"), model.get("reading")];
    field.set(drawing.strokes, titleOf(drawing));
    pick.set(drawing.example);
    setText(title, titleOf(drawing));
    const current = reading.turn === drawing.turn;
    setText(told, current ? reading.told : "The network reads ...");
    setText(trouble, current ? reading.trouble : "");
    trouble.hidden = !trouble.textContent;
    if (!current) return;
    setAttribute(seen, "src", reading.seen);
    setAttribute(seen, "alt", reading.alt);
    setText(size, reading.size);
    bars.set(reading);
  }

  el.classList.add("ck-widget", "ck-pad");
  el.append(element("p", {}, element("strong", {}, "Draw a digit: what does the network "
    + "take it for?")), told, trouble,
  element("div", { class: "ck-parts" }, part("the drawing", field.svg, title),
    part("what the network sees", seen, size), bars.node),
  element("div", { class: "ck-controls" }, button("Clear", () => change([])),
    button("Take a stroke back", undo), pick.node), field.told, field.help);
  const release = keepKeys(el);
  const unfollow = follow(model, ["drawing", "reading"], update);
  return () => { release(); unfollow(); };
}

export default { render };
