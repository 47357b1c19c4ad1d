// Kernel Microscope: the lines of a kernel with their heat, the steps of one warp,
// its 32 lanes, and where they reach: sectors of global memory, banks of shared.

import { element, follow, keepKeys, setAttribute, setText, write } from "./shared.js";
import { editorOf } from "./microscope_edit.js";
import { MOST, compared, drawRows, reveal, score, sourceList } from "./microscope_source.js";
import { stepView } from "./microscope_step.js";
import { load } from "./microscope_trace.js";

const TRAITS = ["version", "step", "lane", "heat", "predicting", "predicted"];

const choice = (options) => element("select", {}, ...options.map(([value, text]) =>
  element("option", { value }, text)));

// What is shown and what is chosen: the model's values, and a source line.
function stateOf(model) {
  const traces = model.get("views").map(load);
  let line = null;
  const version = () => Math.min(model.get("version"), traces.length - 1);
  const now = () => traces[version()];
  const values = () => {
    const found = Object.fromEntries(TRAITS.map((one) => [one, model.get(one)]));
    const step = Math.min(found.step, now().count - 1);
    return { ...found, version: version(), step, line };
  };
  const goTo = (step) => write(model, {
    step: Math.min(now().count - 1, Math.max(0, step)) });

  // The next access after a step, of one line or of any; round to the first.
  function nextAccess(wanted = null) {
    const steps = Object.keys(now().accesses).map(Number)
      .filter((step) => wanted === null || now().lines[step] === wanted);
    return steps.find((step) => step > model.get("step")) ?? steps[0] ?? null;
  }
  function goToAccess() {
    const step = nextAccess();
    if (step !== null) goTo(step);
  }
  function chooseLine(number) {
    line = number;
    const wanted = nextAccess(number) ?? now().lines.indexOf(number);
    if (wanted >= 0) goTo(wanted);
  }
  function show(number) {
    line = null;
    const step = Math.min(model.get("step"), traces[number].count - 1);
    write(model, { version: number, step });
  }
  function predict(number, amount) {
    if (!model.get("predicting") || !now().rates[number]) return false;
    const most = Math.min(MOST, Math.max(1, amount));
    line = number;
    write(model, { predicted: { ...model.get("predicted"), [number]: most } });
    return true;
  }
  return { traces, now, values, goTo, goToAccess, chooseLine, show, predict };
}

// What a key does in the list of lines; false if nothing.
function pressed(state, key) {
  const { first, last } = state.now();
  const { line, predicted } = state.values();
  const at = line ?? first;
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: first, End: last,
    Enter: at, " ": at };
  if (key in moves) state.chooseLine(Math.min(last, Math.max(first, moves[key])));
  const ways = { ArrowRight: 1, ArrowLeft: -1, "+": 1, "-": -1 };
  if (key in ways) state.predict(at, (predicted[at] ?? 0) + ways[key]);
  return key in moves || key in ways;
}

// The controls above the source: version, heat, and whether counts are hidden.
function controls(model, state) {
  const labels = model.get("labels");
  const titles = [...new Set(state.traces.flatMap((trace) => Object.keys(trace.heats)))];
  const versions = choice(labels.map((text, value) => [value, text]));
  const heats = choice(titles.map((text) => [text, text]));
  const mode = element("button", { type: "button" });
  versions.addEventListener("change", () => state.show(Number(versions.value)));
  heats.addEventListener("change", () => write(model, { heat: heats.value }));
  mode.addEventListener("click", () => {
    const predicting = !model.get("predicting");
    write(model, predicting ? { predicting, predicted: {} } : { predicting });
  });
  const versionLabel = element("label", { class: "ck-slider" }, "version ", versions);
  const heatLabel = element("label", { class: "ck-slider" }, "heat ", heats);
  const totals = element("p", { class: "ck-totals" });
  const advice = element("p", { class: "ck-advice" });
  versionLabel.hidden = state.traces.length < 2;
  const draw = (values) => {
    if (versions.value !== String(values.version)) versions.value = values.version;
    if (heats.value !== values.heat) heats.value = values.heat;
    heatLabel.hidden = values.predicting || !titles.length;
    setText(mode, values.predicting ? "Reveal" : "Hide the counts and predict");
    setText(advice, score(state.now(), values));
    setText(totals, titles.length ? compared(state.traces, labels, values) : "");
  };
  const nodes = [element("div", { class: "ck-controls" }, versionLabel, heatLabel, mode),
    advice, totals];
  return { nodes, draw };
}

// Draws the views into a box; returns what ends that.
function build(model, box) {
  const state = stateOf(model);
  const name = `ck-${Math.random().toString(36).slice(2, 8)}`;
  const lists = state.traces.map((trace, n) => sourceList(trace, `${name}-${n}`, {
    click(number, share) {
      if (share === null || !state.predict(number, Math.round(share * MOST))) {
        state.chooseLine(number);
      }
      update();
    },
    key(key) {
      const known = pressed(state, key);
      if (known) update();
      return known;
    },
  }));
  const title = element("strong", {});
  const place = element("span", { class: "ck-place" });
  const error = element("pre", { class: "ck-error" });
  const top = controls(model, state);
  const steps = stepView({ trace: state.now, step: () => model.get("step"),
    goTo: state.goTo, goToAccess: state.goToAccess,
    choose: (lane) => write(model, { lane }) });
  box.replaceChildren(element("p", {}, title, " ", place), ...top.nodes, error,
    element("div", { class: "ck-sides" },
      element("div", { class: "ck-left" }, ...lists.map((list) => list.node)),
      steps.node, element("div", { class: "ck-table" }, steps.table)));
  let seen = {};

  // The line of a new step, or one newly chosen; else the reader may scroll.
  function follows(list, { step, version, line }) {
    const moved = step !== seen.step || version !== seen.version;
    if (moved || line !== seen.line) reveal(list, moved ? ".ck-here" : ".ck-line");
    seen = { step, version, line };
  }

  function update() {
    const [trace, values] = [state.now(), state.values()];
    const { version, line } = values;
    setText(title, `Kernel Microscope: ${trace.kernel}`);
    setText(place, `${trace.place}${trace.full ? `, its first ${trace.count} steps` : ""}`);
    error.hidden = !trace.error;
    setText(error, trace.error);
    top.draw(values);
    lists.forEach((list, n) => { list.node.hidden = n !== version; });
    drawRows(lists[version], state.traces, values);
    setAttribute(lists[version].node, "aria-activedescendant",
      line === null ? "" : `${name}-${version}-${line}`);
    steps.draw(trace, values);
    follows(lists[version], values);
  }
  const unfollow = follow(model, TRAITS, update);
  // Before the first layout nothing can be scrolled; a narrow page lays out anew.
  const laidOut = new ResizeObserver(() =>
    reveal(lists[state.values().version], ".ck-here"));
  lists.forEach((list) => laidOut.observe(list.node));
  return () => { laidOut.disconnect(); unfollow(); };
}

function render({ model, el }) {
  const box = element("div", {});
  const editor = editorOf(model);
  el.classList.add("ck-widget", "ck-microscope");
  el.append(box, editor.node);
  let unfollow = build(model, box);
  const release = keepKeys(el);
  const rebuild = () => {
    const inside = box.contains(document.activeElement);
    unfollow();
    unfollow = build(model, box);
    if (inside) box.querySelector(".ck-source:not([hidden])").focus();
  };
  const ends = [follow(model, ["answered"], editor.update), release,
    () => model.off("change:views", rebuild)];
  model.on("change:views", rebuild);
  return () => { unfollow(); ends.forEach((end) => end()); };
}

export default { render };
