// Questions that are answered before the answer is shown.
//
// The answer is not here: the kernel judges each try and sends a verdict.
// Nothing is disabled after an answer, because a disabled control loses the focus:
// it is marked with aria-disabled and does not change any more.

import {
  element, follow, keepKeys, setAttribute, setRich, setText, write,
} from "./shared.js";

// A number as people write it: spaces, underscores, 1,024; null if it is none.
export function parseNumber(text) {
  const bare = text.trim().replace(/[\s_]/g, "");
  const plain = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(bare)
    ? bare.replaceAll(",", "") : bare;
  return plain !== "" && Number.isFinite(Number(plain)) ? Number(plain) : null;
}

const WAITING = "Waiting for the kernel, which has the answer. If it was restarted, " +
  "run this cell again.";

function choice(question, before) {
  const options = question.labels.map((label, value) => {
    const input = element("input", { type: "radio", name: "option", value });
    const text = element("span");
    setRich(text, label);
    const mark = element("span", { class: "ck-mark" });
    return { input, mark, node: element("label", { class: "ck-option" },
      input, text, mark) };
  });
  const legend = element("legend");
  setRich(legend, before + question.text);
  const read = () => {
    const found = options.findIndex(({ input }) => input.checked);
    return found < 0 ? null : found;
  };
  const set = (tries, verdict) => options.forEach(({ input, mark }, value) => {
    if (tries.length) input.checked = value === tries.at(-1);
    setAttribute(input, "aria-disabled", verdict.done);
    const marks = [
      tries.at(-1) === value && verdict.done && "your answer",
      tries.at(0) === value && verdict.missed && "your first answer",
      value === verdict.right && "right"];
    const text = marks.filter(Boolean).join(", ");
    setText(mark, text && ` (${text})`);
  });
  const clear = () => options.forEach(({ input }) => { input.checked = false; });
  const node = element("fieldset", {}, legend, ...options.map((one) => one.node));
  // The arrow keys, too, choose by a click.
  node.addEventListener("click", (event) => {
    if (event.target.getAttribute("aria-disabled") === "true") event.preventDefault();
  });
  return { node, read, set, clear, missing: "Choose an option first." };
}

function number(question, before) {
  const input = element("input",
    { type: "text", inputmode: "decimal", autocomplete: "off" });
  const text = element("span");
  setRich(text, before + question.text);
  const set = (tries, verdict) => {
    const last = tries.at(-1);
    if (last !== undefined && parseNumber(input.value) !== last) input.value = last;
    input.readOnly = verdict.done;
  };
  return {
    node: element("label", {}, text, " ", input, element("br")),
    read: () => parseNumber(input.value),
    set,
    clear: () => { input.value = ""; },
    missing: "Type a number first.",
  };
}

// The form of one question; `update` shows what the model holds.
function form(model, position) {
  const question = model.get("questions")[position];
  const before = model.get("numbered") ? `${position + 1}. ` : "";
  const field = (question.labels ? choice : number)(question, before);
  const button = element("button", { type: "submit" }, "This is my answer");
  const verdict = element("span", { class: "ck-verdict" });
  const because = element("span");
  const node = element("form", { novalidate: "" }, field.node, button,
    element("p", { role: "status" }, verdict, " ", because));
  let last = 0;
  const tries = () => model.get("answers")[position];
  const judged = () => verdictOf(model, position);
  const say = (text, more = "") => { setText(verdict, text); setRich(because, more); };
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    if (judged().done) return;
    const value = field.read();
    if (value === null) return say(field.missing);
    if (tries().includes(value)) return say("That was your first answer.", judged().more);
    write(model,
      { answers: model.get("answers").with(position, [...tries(), value]) });
  });
  const update = () => {
    const given = tries(), found = judged();
    if (!given.length && last) field.clear();
    last = given.length;
    field.set(given, found);
    setAttribute(button, "aria-disabled", found.done);
    setAttribute(node, "data-verdict", found.state);
    say(found.text, found.more);
  };
  return { node, update };
}

// What the kernel has said of the tries so far; it may not have said it yet.
function verdictOf(model, position) {
  const tries = model.get("answers")[position].length;
  const verdict = model.get("verdicts")[position];
  return verdict.tries === tries ? verdict
    : { state: "waiting", done: true, missed: false, right: null, text: WAITING, more: "" };
}

function scoreOf(verdicts) {
  const done = verdicts.filter((one) => one.done);
  const right = done.filter((one) => one.state === "right").length;
  return done.length
    ? `${right} right of ${done.length} answered, ${verdicts.length} in all.` : "";
}

function render({ model, el }) {
  const questions = model.get("questions");
  const forms = questions.map((_, position) => form(model, position));
  const score = element("p", { role: "status" });
  const again = element("button", { type: "button" }, "Start again");
  again.addEventListener("click", () =>
    write(model, { answers: questions.map(() => []) }));
  el.classList.add("ck-widget", "ck-questions");
  el.append(element("strong", {}, model.get("heading")),
    ...forms.map((one) => one.node), ...(model.get("numbered") ? [score, again] : []));
  const release = keepKeys(el);
  const unfollow = follow(model, ["answers", "verdicts"], () => {
    forms.forEach((one) => one.update());
    setText(score, scoreOf(questions.map((_, i) => verdictOf(model, i))));
  });
  return () => { release(); unfollow(); };
}

export default { render };
