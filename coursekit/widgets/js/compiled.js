// A kernel in three languages: source, PTX, machine code. A line that is pointed at, or
// chosen by key, lights up what it became and what it came from.

import { codeLine, element, follow, keepKeys, plural, setAttribute, setText,
  write } from "./shared.js";
import { editorOf } from "./microscope_edit.js";

const WORDS = { summary: "Edit the kernel, and compile it again", act: "Compile",
  working: "Compiling", wrong: "It does not compile; the listings are as they were.",
  done: "Done: the listings above show the new text." };

// One listing. One stop of the Tab key; arrows go from row to row.
function listing(name, label, rows, act) {
  const nodes = rows.map((row, index) => {
    const node = element("div", { role: "option", id: `${name}-${index}`,
      class: "ck-row", "aria-selected": "false", "aria-label": row.label },
    ...row.cells, codeLine(row.parts));
    node.addEventListener("mouseenter", () => act.point(row.line));
    node.addEventListener("click", () => choose(index));
    return node;
  });
  const node = element("div", { role: "listbox", tabindex: "0", class: "ck-listing",
    "aria-label": label, "aria-multiselectable": "true" }, ...nodes);
  let at = 0;

  function choose(index) {
    at = Math.min(rows.length - 1, Math.max(0, index));
    setAttribute(node, "aria-activedescendant", `${name}-${at}`);
    act.choose(rows[at].line, node);
    nodes.forEach((one, n) => one.classList.toggle("ck-at", n === at));
    reveal(node, nodes[at]);
  }
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1,
      Enter: at, " ": at };
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(moves[event.key]);
  });
  node.addEventListener("mouseleave", () => act.point(0));
  return { node, rows, nodes };
}

// Scrolls a listing, and nothing around it, until a row can be seen.
function reveal(node, row) {
  if (!row) return;
  const [box, at] = [node.getBoundingClientRect(), row.getBoundingClientRect()];
  if (at.top >= box.top && at.bottom <= box.bottom) return;
  node.scrollTop += at.top - box.top - (box.height - at.height) / 2;
}

const number = (line) => element("span", { class: "ck-number" }, line ? String(line) : "");
const textOf = (parts) => parts.map((part) => part[1]).join("").trim();
const from = (line) => line ? `, from line ${line}` : "";

function sourceRows(view) {
  return view.source.map((parts, index) => {
    const line = view.first + index;
    return { parts, line, label: `line ${line}: ${textOf(parts)}`, cells: [number(line)] };
  });
}

function ptxRows(view) {
  return view.ptx.map(([parts, line, live]) => {
    const fill = element("span", { class: "ck-fill" });
    fill.style.width = live ? `${(100 * live / view.most).toFixed(1)}%` : "0";
    const cells = [number(line),
      element("span", { class: "ck-live" }, live === null ? "" : String(live)),
      element("span", { class: "ck-bar" }, fill)];
    const held = live === null ? "" : `, ${plural(live, "live register")}`;
    return { parts, line, live, label: `${textOf(parts)}${from(line)}${held}`, cells };
  });
}

function sassRows(view) {
  return view.sass.map(([parts, line]) => ({ parts, line,
    label: `${textOf(parts)}${from(line)}`, cells: [number(line)] }));
}

const isCode = (row) => !textOf(row.parts).endsWith(":");

// What became of a source line, in words.
function told(view, lists, line) {
  const machine = view.why ? ""
    : `; the machine code needs ${plural(view.registers, "register")} per thread`;
  if (!line) {
    return `Point at a line, or press the arrow keys in a listing. The PTX has at most `
      + `${plural(view.most, "live register")}${machine}.`;
  }
  const [ptx, sass] = [lists[1], lists[2]].map((list) =>
    list.rows.filter((row) => row.line === line && isCode(row)));
  const most = Math.max(0, ...ptx.map((row) => row.live));
  const became = view.why ? "" : ` and ${plural(sass.length, "machine instruction")}`;
  if (!ptx.length && !sass.length) return `Line ${line} has no instruction of its own.`;
  return `Line ${line} became ${plural(ptx.length, "PTX instruction")}${became}; at most `
    + `${plural(most, "live register")} there.`;
}

function column(title, list) {
  return element("div", { class: "ck-column" }, element("p", { class: "ck-head" }, title),
    list.node);
}

function build(model, box) {
  const view = JSON.parse(model.get("view"));
  const name = `ck-${Math.random().toString(36).slice(2, 8)}`;
  let pointed = 0;
  const act = {
    point(line) { pointed = line; update(); },
    choose(line, node) {
      pointed = 0;
      write(model, { line });
      lists.filter((list) => list.node !== node).forEach((list) =>
        reveal(list.node, list.node.querySelector(".ck-lit")));
    },
  };
  const lists = [
    listing(`${name}-s`, "Source lines", sourceRows(view), act),
    listing(`${name}-p`, "PTX", ptxRows(view), act),
    listing(`${name}-m`, "Machine code", sassRows(view), act),
  ];
  const status = element("p", { role: "status", class: "ck-told" });
  const below = [column("PTX: source line, live registers", lists[1])];
  below.push(view.why ? element("pre", { class: "ck-why" }, view.why)
    : column(`Machine code for ${view.arch} (SASS)`, lists[2]));
  box.replaceChildren(
    element("p", {}, element("strong", {}, `Kernel ${view.kernel}`)), status,
    column("Source", lists[0]), element("div", { class: "ck-pair" }, ...below));
  if (view.left_out) {
    box.append(element("p", {}, `The last ${view.left_out} lines are left out.`));
  }

  function update() {
    const line = pointed || model.get("line");
    for (const list of lists) {
      list.rows.forEach((row, n) => {
        const lit = line > 0 && row.line === line;
        list.nodes[n].classList.toggle("ck-lit", lit);
        setAttribute(list.nodes[n], "aria-selected", lit);
      });
    }
    if (!pointed) setText(status, told(view, lists, line));
  }
  return follow(model, ["line"], update);
}

function render({ model, el }) {
  const box = element("div", {});
  const editor = editorOf(model, WORDS);
  el.classList.add("ck-widget", "ck-compiled");
  el.append(box, editor.node);
  let unfollow = build(model, box);
  const rebuild = () => {
    unfollow();
    unfollow = build(model, box);
  };
  model.on("change:view", rebuild);
  const ends = [follow(model, ["answered"], editor.update), keepKeys(el),
    () => model.off("change:view", rebuild)];
  return () => { unfollow(); ends.forEach((end) => end()); };
}

export default { render };
