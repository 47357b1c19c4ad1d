// A number as bits: type it, flip a bit, go to its neighbours.

import {
  button, element, follow, keepKeys, setAttribute, setText, write,
} from "./shared.js";
import {
  bitsOf, fieldsOf, kindOf, spacingOf, valueOf,
} from "./number_rules.js";

export const rules = { bitsOf, fieldsOf, kindOf, spacingOf, valueOf };
const TRAITS = ["format", "bits", "typed", "rounding"];
const ROUNDINGS = ["nearest", "zero", "up", "down"];
const MOST = 32;

const digits = (value, count = 10) => Number.isFinite(value)
  ? String(Number(value.toPrecision(count))) : String(value).replace("Infinity", "Inf");

// "inf" and "nan" as Python writes them; undefined where the text is no number.
function numberOf(text) {
  const words = { inf: Infinity, "+inf": Infinity, "-inf": -Infinity, nan: NaN };
  const word = text.trim().toLowerCase();
  if (word in words) return words[word];
  const number = Number(word);
  return word && Number.isFinite(number) ? number : undefined;
}

// The name of the part of a pattern that a bit, counted from the right, belongs to.
function partOf(format, place) {
  if (format.specials === "integer") return "integer";
  if (place === format.width - 1) return "sign";
  return place < format.mantissa ? "mantissa" : "exponent";
}

function chooser(label, names, changed) {
  const select = element("select", {}, ...names.map((name) =>
    element("option", { value: name }, name)));
  select.addEventListener("change", () => changed(select.value));
  return { select, node: element("label", {}, `${label} `, select) };
}

function formulaOf(format, bits) {
  if (format.specials === "integer") return "two's complement";
  const kind = kindOf(format, bits);
  if (kind === "NaN" || kind === "Inf") return "a pattern that stands for no number";
  const { sign, exponent, mantissa } = fieldsOf(format, bits);
  const power = Math.max(exponent, 1) - (2 ** (format.exponent - 1) - 1);
  const hidden = exponent ? 1 : 0;
  return `${sign ? "-" : "+"} 2^${power} * (${hidden} + ${mantissa}/${
    2 ** format.mantissa})`;
}

function errorOf(typed, value) {
  const wanted = numberOf(typed);
  if (typed.trim() === "") return "a bit was flipped: nothing was typed";
  if (wanted === undefined) return `"${typed}" is no number`;
  const error = value - wanted;
  if (!Number.isFinite(error)) return wanted === value ? "none" : "not finite";
  const relative = wanted ? `, ${digits(Math.abs(error / wanted) * 100, 3)} %` : "";
  return error === 0 ? "none" : `${digits(error, 6)}${relative}`;
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const formatNow = () => get("formats").find((one) => one.name === get("format"));

  function retype(changes) {
    const state = { format: get("format"), typed: get("typed"),
      rounding: get("rounding"), ...changes };
    const format = get("formats").find((one) => one.name === state.format);
    const typed = numberOf(state.typed);
    const wanted = typed ?? valueOf(formatNow(), get("bits"));
    const known = typed === undefined && changes.typed !== undefined;
    const bits = known ? get("bits") : bitsOf(format, wanted, state.rounding);
    write(model, { ...changes, bits });
  }

  const setBits = (bits) => write(model, { bits, typed: "" });

  function step(by) {
    const last = 2 ** formatNow().width - 1;
    setBits(Math.min(Math.max(get("bits") + by, 0), last));
  }

  const input = element("input", { type: "text", inputmode: "decimal", size: 14 });
  input.addEventListener("change", () => retype({ typed: input.value }));
  const format = chooser("format", get("formats").map((one) => one.name),
    (name) => retype({ format: name }));
  const rounding = chooser("rounding", ROUNDINGS, (name) => retype({ rounding: name }));
  const boxes = Array.from({ length: MOST }, (_, place) => {
    const node = button("0", () => {
      const on = Math.floor(get("bits") / 2 ** place) % 2;
      setBits(get("bits") + (on ? -1 : 1) * 2 ** place);
    });
    return node;
  });
  const cells = Object.fromEntries(["value", "pattern", "made of", "next number",
    "error"].map((name) => [name, element("td")]));
  const said = element("p", { role: "status", class: "ck-said" });

  function update() {
    const [now, bits] = [formatNow(), get("bits")];
    const value = valueOf(now, bits);
    boxes.forEach((box, place) => {
      box.hidden = place >= now.width;
      if (box.hidden) return;
      const on = Math.floor(bits / 2 ** place) % 2;
      const part = partOf(now, place);
      setText(box, String(on));
      setAttribute(box, "class", `ck-bit ck-${part}`);
      setAttribute(box, "aria-pressed", String(on === 1));
      setAttribute(box, "aria-label", `bit ${place}, ${part}, is ${on}`);
    });
    if (input.value !== get("typed") && document.activeElement !== input) {
      input.value = get("typed");
    }
    format.select.value = get("format");
    rounding.select.value = get("rounding");
    setText(said, `${now.name}: ${digits(value)} (${kindOf(now, bits)})`);
    setText(cells.value, digits(value, 17));
    setText(cells.pattern, `0x${bits.toString(16).toUpperCase().padStart(
      Math.ceil(now.width / 4), "0")}`);
    setText(cells["made of"], formulaOf(now, bits));
    const spacing = spacingOf(now, bits);
    setText(cells["next number"], Number.isNaN(spacing) ? "none"
      : `${digits(spacing, 6)} away`);
    setText(cells.error, errorOf(get("typed"), value));
  }

  el.classList.add("ck-widget", "ck-number");
  el.append(
    element("p", {}, element("strong", {}, "A number as bits")),
    element("div", { class: "ck-controls" },
      element("label", {}, "number ", input), format.node, rounding.node),
    element("div", { class: "ck-bits", role: "group", "aria-label": "Bits" },
      ...[...boxes].reverse()),
    element("p", { class: "ck-legend" },
      ...["sign", "exponent", "mantissa"].map((name) =>
        element("span", { class: `ck-${name}` }, name))),
    element("div", { class: "ck-controls" },
      button("pattern - 1", () => step(-1)), button("pattern + 1", () => step(1))),
    said,
    element("table", {}, element("tbody", {}, ...Object.entries(cells).map(
      ([name, cell]) => element("tr", {}, element("th", { scope: "row" }, name), cell)))),
  );
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
