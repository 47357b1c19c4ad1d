// Questions that are answered before the answer is shown.
//
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

// True, false, or null where the notebook itself will tell.
export function accepts(question, given) {
  if (question.answer === null) return null;
  if (question.labels) return given === question.answer;
  return Math.abs(given - question.answer) <= question.tolerance;
}

function said(question, value) {
  return question.labels ? question.labels[value] : String(value);
}

function verdictOf(question, given) {
  const right = accepts(question, given);
  if (right === null) return "You have committed to " + said(question, given) + ".";
  return right ? "Right." : `Not so: the answer is ${said(question, question.answer)}.`;
}

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
  const set = (given) => options.forEach(({ input, mark }, value) => {
    if (given !== null) input.checked = value === given;
    setAttribute(input, "aria-disabled", given !== null);
    const marks = given === null ? [] : [
      value === given && "your answer", value === question.answer && "right"];
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
  const set = (given) => {
    if (given !== null && parseNumber(input.value) !== given) input.value = given;
    input.readOnly = given !== null;
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
  let last = null;
  const given = () => model.get("answers")[position] ?? null;
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    if (given() !== null) return;
    const value = field.read();
    if (value === null) return setText(verdict, field.missing);
    write(model, { answers: model.get("answers").with(position, value) });
  });
  const update = () => {
    const answer = given();
    if (answer === null && last !== null) field.clear();
    last = answer;
    field.set(answer);
    setAttribute(button, "aria-disabled", answer !== null);
    const right = answer === null ? null : accepts(question, answer);
    setAttribute(node, "data-verdict",
      right === null ? "open" : right ? "right" : "wrong");
    setText(verdict, answer === null ? "" : verdictOf(question, answer));
    setRich(because, answer === null ? "" : question.because);
  };
  return { node, update };
}

function scoreOf(questions, answers) {
  const given = answers.filter((answer) => answer !== null).length;
  const right = questions.filter((question, i) =>
    answers[i] !== null && accepts(question, answers[i])).length;
  return given ? `${right} right of ${given} answered, ${questions.length} in all.` : "";
}

function render({ model, el }) {
  const questions = model.get("questions");
  const forms = questions.map((_, position) => form(model, position));
  const score = element("p", { role: "status" });
  const again = element("button", { type: "button" }, "Start again");
  again.addEventListener("click", () =>
    write(model, { answers: questions.map(() => null) }));
  el.classList.add("ck-widget", "ck-questions");
  el.append(element("strong", {}, model.get("heading")),
    ...forms.map((one) => one.node), ...(model.get("numbered") ? [score, again] : []));
  const release = keepKeys(el);
  const unfollow = follow(model, ["answers"], () => {
    forms.forEach((one) => one.update());
    setText(score, scoreOf(questions, model.get("answers")));
  });
  return () => { release(); unfollow(); };
}

export default { render };
