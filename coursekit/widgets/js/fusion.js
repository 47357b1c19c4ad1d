// Fusion: which operations share a kernel, and the bytes and launches that follow.
//
// `countOf` is coursekit/lessons/fusion once more, for groups of neighbours.

import {
  drawn, element, follow, keepKeys, setAttribute, setText, write,
} from "./shared.js";

const TRAITS = ["joined", "lines", "device", "bandwidth_gbs"];
const [WIDTH, BAR, LABEL] = [740, 22, 90];

const sum = (values) => values.reduce((all, one) => all + one, 0);

// Digits as Python writes them, never with an exponent.
function digits(number, count) {
  return Number(number.toPrecision(count)).toLocaleString("en-US",
    { maximumFractionDigits: 12 });
}

function inBytes(number) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (number >= 10 * size) return `${digits(number / size, 4)} ${unit}`;
  }
  return `${number.toLocaleString("en-US")} B`;
}

function evenPercent(share) {
  const whole = Math.floor(100 * share);
  const rest = 100 * share - whole;
  return rest > 0.5 || (rest === 0.5 && whole % 2) ? whole + 1 : whole;
}

function groupsOf(count, joined) {
  const groups = [[0]];
  for (let line = 1; line < count; line += 1) {
    if (joined[line - 1]) groups.at(-1).push(line);
    else groups.push([line]);
  }
  return groups;
}

function kernelOf(lines, group, outputs) {
  const inside = new Set(group.map((line) => lines[line].name));
  const needed = new Set(outputs);
  lines.forEach((line) => {
    if (!inside.has(line.name)) line.reads.forEach((read) => needed.add(read.name));
  });
  const reads = new Map();
  for (const line of group) {
    for (const read of lines[line].reads) {
      if (inside.has(read.name)) continue;
      const asked = Math.max(read.asked, reads.get(read.name)?.asked ?? 0);
      reads.set(read.name, { ...read, asked });
    }
  }
  const writes = group.map((line) => lines[line]).filter((line) => needed.has(line.name));
  const parts = [...reads.values(), ...writes];
  return { group, reads: [...reads.values()], writes,
    least: sum(parts.map((one) => one.least)), asked: sum(parts.map((one) => one.asked)) };
}

export function countOf({ lines, joined, outputs }) {
  const kernels = groupsOf(lines.length, joined).map((group) =>
    kernelOf(lines, group, outputs));
  return { kernels, launches: kernels.length,
    least: sum(kernels.map((one) => one.least)),
    asked: sum(kernels.map((one) => one.asked)) };
}

export function summaryOf(state) {
  const now = countOf(state);
  const apart = countOf({ ...state, joined: state.joined.map(() => false) });
  const bound = (found) => digits(found.least / state.bandwidth_gbs * 1e-3, 3);
  const text = `${now.launches} launch${now.launches === 1 ? "" : "es"}, ${
    inBytes(now.least)} at least: ${bound(now)} us or more through the memory of the ${
    state.device}.`;
  if (now.launches === apart.launches) return text;
  return `${text} Unfused: ${apart.launches} launches, ${inBytes(apart.least)}, ${
    bound(apart)} us; ${evenPercent(now.least / apart.least)}% of the bytes remain.`;
}

const traffic = (parts) => parts.map((one) => `${one.name} ${inBytes(one.least)}`)
  .join(", ") || "nothing";

// Two bars of bytes: the chain unfused, and as it is cut now; a piece a kernel.
function bars(count) {
  const rows = ["unfused", "now"].map((name, row) => {
    const y = 4 + row * (BAR + 8);
    const pieces = Array.from({ length: count }, () => drawn("rect", { y, height: BAR }));
    const total = drawn("text", { y: y + 15 });
    return { pieces, total,
      node: drawn("g", {}, drawn("text", { x: 4, y: y + 15 }, name), ...pieces, total) };
  });
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${2 * BAR + 16}` },
    ...rows.map((row) => row.node));
  const set = (apart, now) => {
    const scale = (WIDTH - LABEL - 130) / apart.least;
    [apart, now].forEach((found, row) => {
      let x = LABEL;
      rows[row].pieces.forEach((piece, number) => {
        const width = number < found.launches ? found.kernels[number].least * scale : 0;
        setAttribute(piece, "x", x);
        setAttribute(piece, "width", Math.max(width - 1, 0));
        setAttribute(piece, "class", `ck-block${number % 6}`);
        x += width;
      });
      setAttribute(rows[row].total, "x", x + 6);
      setText(rows[row].total, inBytes(found.least));
    });
    setAttribute(svg, "aria-label", `Bytes unfused ${inBytes(apart.least)}, now ${
      inBytes(now.least)}`);
  };
  return { svg, set };
}

function lineOf(line, toggle, last) {
  const kernel = element("span", { class: "ck-kernel" });
  const text = element("code", {}, line.text);
  const row = element("div", { class: "ck-line" }, kernel, text);
  if (last) return { nodes: [row], row, kernel };
  const joint = element("button", { type: "button", class: "ck-joint" });
  joint.addEventListener("click", toggle);
  return { nodes: [row, joint], row, kernel, joint };
}

function kernelTable(count) {
  const rows = Array.from({ length: count }, () => {
    const cells = [element("th", { scope: "row" }), element("td"), element("td"),
      element("td", { class: "ck-count" })];
    return { node: element("tr", {}, ...cells), cells };
  });
  const node = element("table", {},
    element("thead", {}, element("tr", {},
      ...["launch", "reads", "writes", "bytes at least"].map((text) =>
        element("th", { scope: "col" }, text)))),
    element("tbody", {}, ...rows.map((row) => row.node)));
  const set = (found) => rows.forEach((row, number) => {
    const kernel = found.kernels[number];
    row.node.hidden = !kernel;
    if (!kernel) return;
    [String(number + 1), traffic(kernel.reads), traffic(kernel.writes),
      inBytes(kernel.least)].forEach((text, place) => setText(row.cells[place], text));
  });
  return { node, set };
}

function render({ model, el }) {
  const get = (name) => model.get(name);
  const lines = get("lines");
  let refusal = "";

  function toggle(pair) {
    const joined = [...get("joined")];
    joined[pair] = !joined[pair];
    const groups = groupsOf(lines.length, joined);
    const clash = get("refused").find(([one, other]) =>
      groups.some((group) => group.includes(one) && group.includes(other)));
    refusal = clash ? clash[2] : "";
    if (!clash) write(model, { joined });
    update();
  }

  const rows = lines.map((line, number) =>
    lineOf(line, () => toggle(number), number === lines.length - 1));
  const summary = element("p", { role: "status", class: "ck-summary" });
  const told = element("p", { role: "status", class: "ck-refusal" });
  const asked = element("p", { class: "ck-asked" });
  const picture = bars(lines.length);
  const table = kernelTable(lines.length);

  function update() {
    const state = Object.fromEntries([...TRAITS, "outputs"].map((name) =>
      [name, get(name)]));
    const now = countOf(state);
    const apart = countOf({ ...state, joined: state.joined.map(() => false) });
    now.kernels.forEach((kernel, number) => kernel.group.forEach((line) => {
      setText(rows[line].kernel, `launch ${number + 1}`);
      setAttribute(rows[line].row, "class", `ck-line ck-block${number % 6}`);
    }));
    rows.forEach(({ joint }, pair) => {
      if (!joint) return;
      const fused = state.joined[pair];
      const [what, pairs] = [fused ? "cut here" : "fuse",
        `${lines[pair].name} and ${lines[pair + 1].name}`];
      setText(joint, what);
      setAttribute(joint, "aria-label", `${what}, between ${pairs}`);
      setAttribute(joint, "class", `ck-joint${fused ? " ck-fused" : ""}`);
    });
    setText(summary, summaryOf(state));
    setText(told, refusal);
    told.hidden = !refusal;
    setText(asked, now.asked === now.least
      ? "A bound by bytes alone: launches and arithmetic come on top."
      : `Warps ask for ${inBytes(now.asked)} in sectors of 32 bytes; caches can serve `
        + "what is more than the least.");
    picture.set(apart, now);
    table.set(now);
  }

  el.classList.add("ck-widget", "ck-fusion");
  el.append(element("p", {}, element("strong", {}, "Fusion: which lines share a kernel?")),
    element("div", { class: "ck-chain", role: "group", "aria-label": "Chain" },
      ...rows.flatMap((row) => row.nodes)),
    summary, told, picture.svg, table.node, asked);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
