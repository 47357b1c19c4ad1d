// Count Golf: the counts of a kernel against the ideal, and a panel to play again.

import {
  button, codeLine, element, follow, keepKeys, setAttribute, setText, write,
} from "./shared.js";

const MOST_ROWS = 30;
const TITLES = ["count", "now", "of the ideal", "best here"];
const WAITING = "Compiling, checking and counting; if nothing comes, run the cell again "
  + "to wake the notebook.";

const cell = (tag, attributes = {}) => element(tag, attributes);

// The table of counts; rows are made once for each name and changed in place.
function tableOf() {
  const caption = element("caption", {});
  const body = element("tbody", {});
  const node = element("table", {}, caption, element("thead", {}, element("tr", {},
    ...TITLES.map((text) => element("th", { scope: "col" }, text)))), body);
  const made = new Map();
  const rowOf = (name) => {
    if (!made.has(name)) {
      const cells = [cell("th", { scope: "row" }), cell("td"), cell("td"), cell("td")];
      made.set(name, { row: element("tr", {}, ...cells), cells });
      body.append(made.get(name).row);
    }
    return made.get(name);
  };
  const draw = ({ size, rows }) => {
    node.hidden = !rows.length;
    setText(caption, `Correct and race-free; counted at size ${size}`);
    for (const texts of rows) {
      rowOf(texts[0]).cells.forEach((one, n) => setText(one, texts[n]));
    }
  };
  return { node, draw };
}

// The source with what each line costs, and a mark at the one that costs most.
function listingOf() {
  const summary = element("summary", {});
  const list = element("div", { class: "ck-source", tabindex: "0", role: "region",
    "aria-label": "Source with the cost of each line" });
  const node = element("details", {}, summary, list);
  const draw = ({ lines, metric, costliest }) => {
    node.hidden = !lines.length;
    setText(summary, costliest
      ? `Line ${costliest} costs most: ${lines[costliest - 1][0].toLocaleString("en")} `
        + metric : `No line costs any ${metric}`);
    list.replaceChildren(...lines.map(([cost, parts], n) => element("div",
      { class: n + 1 === costliest ? "ck-row ck-most" : "ck-row" },
      element("span", { class: "ck-number" }, String(n + 1)),
      element("span", { class: "ck-amount" },
        `${n + 1 === costliest ? "> " : ""}${cost ? cost.toLocaleString("en") : ""}`),
      codeLine(parts))));
  };
  node.addEventListener("toggle", () => {
    const most = list.querySelector(".ck-most");
    if (most) list.scrollTop = most.offsetTop - list.offsetTop - list.clientHeight / 2;
  });
  return { node, draw };
}

// The panel that sends a text to be played, and says what became of it.
function panelOf(model) {
  const text = element("textarea", { "aria-label": "CUDA C++ of your kernel",
    spellcheck: "false", wrap: "off",
    rows: Math.min(MOST_ROWS, model.get("text").split("\n").length + 1) });
  text.value = model.get("asked").text ?? model.get("text");
  const told = element("p", { role: "status" });
  let waited = null; // the turn that is waited for
  const update = () => {
    const { turn, trouble } = model.get("answered");
    const waits = waited !== null && turn !== waited;
    setText(told, waits ? WAITING : waited === null ? "" : trouble
      || `${model.get("shown").headline}.`);
  };
  const play = () => {
    waited = (model.get("asked").turn ?? 0) + 1;
    write(model, { asked: { text: text.value, turn: waited } });
    update();
  };
  const put = (trait) => () => { text.value = model.get(trait); };
  const node = element("details", { class: "ck-edit" },
    element("summary", {}, "Edit the kernel, and play"), text,
    element("div", { class: "ck-controls" }, button("Play", play),
      button("First text again", put("text")),
      button("Best text so far", put("leader"))), told);
  return { node, update };
}

function render({ model, el }) {
  const title = element("strong", {});
  const advice = element("p", { class: "ck-advice" });
  const trouble = element("pre", { class: "ck-trouble", tabindex: "0",
    role: "region", "aria-label": "Why it is refused" });
  const [table, listing, panel] = [tableOf(), listingOf(), panelOf(model)];
  const terms = element("details", {}, element("summary", {}, "The hole, and its ideals"),
    element("p", { class: "ck-terms" }, model.get("terms")));
  el.classList.add("ck-widget", "ck-golf");
  el.append(element("p", {}, title), terms, table.node, trouble, listing.node, advice,
    panel.node);

  function update() {
    const shown = model.get("shown");
    setText(title, shown.headline);
    setAttribute(el, "data-medal", shown.headline.split(": ")[1].split(" ")[0]);
    table.draw(shown);
    listing.draw(shown);
    setText(advice, shown.advice);
    advice.hidden = !shown.advice;
    setText(trouble, shown.trouble);
    trouble.hidden = !shown.trouble;
    panel.update();
  }
  const ends = [follow(model, ["shown"], update),
    follow(model, ["answered"], panel.update), keepKeys(el)];
  return () => ends.forEach((end) => end());
}

export default { render };
