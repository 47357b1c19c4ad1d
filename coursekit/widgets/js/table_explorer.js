// A table to search: a field for words, a choice of groups, and the rows that fit.

import { element, keepKeys, setText } from "./shared.js";

const ALL = "all groups";

// A cell: text, or a link that shows its host.
function cellOf(tag, attributes, text) {
  if (!text.startsWith("https://")) return element(tag, attributes, text);
  const host = text.slice("https://".length).split("/")[0];
  const link = { href: text, target: "_blank", rel: "noopener noreferrer" };
  return element(tag, attributes, element("a", link, host));
}

function rowOf(texts, group) {
  const cells = texts.map((text, n) =>
    cellOf(n ? "td" : "th", n ? {} : { scope: "row" }, text));
  return {
    node: element("tr", {}, ...cells),
    group,
    words: `${group} ${texts.join(" ")}`.toLowerCase(),
  };
}

function controls(model, groups) {
  const search = element("input", { type: "search", autocomplete: "off" });
  const choice = element("select", {}, element("option", {}, ALL),
    ...groups.map((group) => element("option", {}, group)));
  const node = element("div", { class: "ck-controls" },
    element("label", {}, "Search ", search),
    element("label", {}, "Group ", choice));
  return { node, search, choice };
}

function render({ model, el }) {
  el.classList.add("ck-widget", "ck-table-explorer");
  const groups = model.get("groups");
  const rows = Object.entries(groups).flatMap(([group, of]) =>
    of.map((texts) => rowOf(texts, group)));
  const bar = controls(model, Object.keys(groups));
  const status = element("p", { role: "status" });
  const head = element("tr", {}, ...model.get("columns").map((name) =>
    element("th", { scope: "col" }, name)));
  const table = element("table", {},
    element("caption", {}, `${model.get("title")}. ${model.get("note")}`),
    element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => row.node)));
  const area = { class: "ck-scroll", tabindex: "0", role: "region",
    "aria-label": model.get("title") };
  el.append(bar.node, status, element("div", area, table));
  const update = () => {
    const wanted = bar.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const group = bar.choice.value;
    let shown = 0;
    for (const row of rows) {
      const fits = wanted.every((word) => row.words.includes(word))
        && (group === ALL || group === row.group);
      row.node.hidden = !fits;
      shown += fits;
    }
    setText(status, shown ? `${shown} of ${rows.length} rows`
      : "No row has all these words: try fewer, or all groups.");
  };
  bar.search.addEventListener("input", update);
  bar.choice.addEventListener("change", update);
  update();
  return keepKeys(el);
}

export default { render };
