// Bars over time, one lane for each engine; and the same as a table.

import { drawn, element, setAttribute, setText, show } from "./shared.js";

const [WIDTH, LEFT, TOP, LANE, BAR, LETTER] = [756, 74, 26, 32, 24, 6.8];
const MOST_BARS = 80; // 24 operations; for each the host issues, and may wait
const TICKS = 8;

// A step of 1, 2 or 5 times a power of ten, so that few ticks reach the end.
export function tickStep(end) {
  const rough = end / (TICKS - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
}

export const shortly = (us) => String(Number(us.toPrecision(5)));

function oneBar() {
  const box = drawn("rect", { height: BAR });
  const text = drawn("text", { y: 16, class: "ck-middle" });
  const node = drawn("g", {}, box, text);
  const set = ([lane, name, start, end, critical, kind], scale) => {
    const width = (end - start) * scale;
    setAttribute(node, "transform",
      `translate(${(LEFT + start * scale).toFixed(1)} ${TOP + lane * LANE})`);
    setAttribute(node, "class", `ck-bar ck-lane${lane} ck-${kind}`
      + (critical ? " ck-critical" : ""));
    setAttribute(box, "width", width.toFixed(1));
    setAttribute(text, "x", (width / 2).toFixed(1));
    const fitting = [name, kind === "operation" ? name.split(" ").at(-1) : ""]
      .find((words) => LETTER * words.length + 4 <= width);
    setText(text, fitting ?? "");
  };
  return { node, set };
}

function tableOf() {
  const rows = Array.from({ length: MOST_BARS }, () =>
    element("tr", {}, element("th", { scope: "row" }),
      ...Array.from({ length: 4 }, () => element("td"))));
  const heads = ["operation", "engine", "start (us)", "end (us)", "longest chain"];
  const node = element("details", {}, element("summary", {}, "The same as a table"),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((text) =>
      element("th", { scope: "col" }, text)))), element("tbody", {}, ...rows)));
  const set = (plan) => rows.forEach((row, n) => {
    row.hidden = n >= plan.bars.length;
    if (row.hidden) return;
    const [lane, name, start, end, critical] = plan.bars[n];
    const texts = [name, plan.lanes[lane], shortly(start), shortly(end),
      critical ? "yes" : ""];
    texts.forEach((text, k) => setText(row.children[k], text));
  });
  return { node, set };
}

export function chart() {
  const bars = Array.from({ length: MOST_BARS }, oneBar);
  const names = Array.from({ length: 4 }, (_, lane) =>
    drawn("text", { x: 4, y: TOP + lane * LANE + 16 }));
  const ticks = Array.from({ length: TICKS }, () => drawn("text", { class: "ck-middle" }));
  const bound = drawn("path", { class: "ck-bound" });
  const label = drawn("text", { y: 12, class: "ck-middle" }, "no order beats this");
  const svg = drawn("svg", { role: "img" }, ...bars.map((bar) => bar.node), ...names,
    ...ticks, bound, label);
  const table = tableOf();
  const set = (plan, fresh) => {
    const bottom = TOP + plan.lanes.length * LANE;
    const scale = (WIDTH - LEFT - 20) / Math.max(plan.makespan, plan.bound, 1e-9);
    setAttribute(svg, "viewBox", `0 0 ${WIDTH} ${bottom + 18}`);
    setAttribute(svg, "class", fresh ? "ck-bars" : "ck-bars ck-stale");
    setAttribute(svg, "aria-label", `Bars of ${plan.lanes.join(", ")} over time. `
      + `${plan.told} The table below has the numbers.`);
    names.forEach((name, lane) => {
      show(name, lane < plan.lanes.length);
      setText(name, plan.lanes[lane] ?? "");
    });
    bars.forEach((bar, n) => {
      show(bar.node, n < plan.bars.length);
      if (n < plan.bars.length) bar.set(plan.bars[n], scale);
    });
    const step = tickStep(Math.max(plan.makespan, 1e-6));
    ticks.forEach((tick, n) => {
      show(tick, n * step <= plan.makespan);
      setAttribute(tick, "x", LEFT + n * step * scale);
      setAttribute(tick, "y", bottom + 12);
      setText(tick, shortly(n * step) + (n ? "" : " us"));
    });
    const x = LEFT + plan.bound * scale;
    setAttribute(bound, "d", `M${x.toFixed(1)} ${TOP - 8}V${bottom}`);
    setAttribute(label, "x", Math.min(x, WIDTH - 60).toFixed(1));
    table.set(plan);
  };
  return { svg, table: table.node, set };
}
