// An editor of a kernel's text, which the notebook compiles. The microscope compares it
// with the first version.

import { button, element, setText, write } from "./shared.js";

const MOST_ROWS = 30;

const COMPARE = { summary: "Edit the kernel, and compare", act: "Compile and compare",
  working: "Compiling and counting", wrong: "It does not run; the pictures are as they were.",
  done: "Done: above, version is before or after, and all bars have one scale." };

// `update` says what became of the last text that was sent, in the widget's words.
export function editorOf(model, words = COMPARE) {
  const first = model.get("text");
  const text = element("textarea", { "aria-label": "CUDA C++ of the kernel",
    spellcheck: "false", wrap: "off",
    rows: Math.min(MOST_ROWS, first.split("\n").length + 1) });
  text.value = model.get("edited").text ?? first;
  const told = element("p", { role: "status" });
  const trouble = element("pre", { class: "ck-trouble" });
  let asked = null; // the turn that is waited for

  function update() {
    const { turn, trouble: wrong } = model.get("answered");
    const waits = asked !== null && turn !== asked;
    setText(told, waits
      ? `${words.working}; if nothing comes, run the cell again to wake the notebook.`
      : asked === null ? "" : wrong ? words.wrong
        : words.done);
    trouble.hidden = waits || !wrong;
    setText(trouble, wrong ?? "");
  }

  const send = () => {
    asked = (model.get("edited").turn ?? 0) + 1;
    write(model, { edited: { text: text.value, turn: asked } });
    update();
  };
  const node = element("details", { class: "ck-edit" },
    element("summary", {}, words.summary), text,
    element("div", { class: "ck-controls" }, button(words.act, send),
      button("First text again", () => { text.value = first; })),
    told, trouble);
  node.hidden = !first;
  return { node, update };
}
