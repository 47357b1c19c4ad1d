// The microscope's source lines: their heat on one scale, and what the reader predicts.

import { codeLine, element, setAttribute, setText } from "./shared.js";

export const MOST = 32; // sectors or wavefronts that one request of a warp can need

// The list of source lines. One stop of the Tab key; arrows go from line to line.
export function sourceList(trace, name, act) {
  const rows = trace.code.map((parts, index) => {
    const fill = element("span", { class: "ck-fill" });
    const mine = element("span", { class: "ck-mine" });
    const other = element("span", { class: "ck-other" });
    const bar = element("span", { class: "ck-bar" }, fill, mine, other);
    const amount = element("span", { class: "ck-amount" });
    const number = trace.first + index;
    const node = element("div", {
      role: "option", id: `${name}-${number}`, class: "ck-row", "aria-selected": "false",
    }, element("span", { class: "ck-number" }, String(number)), bar, amount,
    codeLine(parts));
    node.addEventListener("click", (event) => {
      const box = bar.getBoundingClientRect();
      const inBar = event.clientX >= box.left - 3 && event.clientX <= box.right + 3;
      const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      act.click(number, inBar ? share : null);
    });
    return { node, fill, mine, other, bar, amount, number,
      text: parts.map((part) => part[1]).join("").trim() };
  });
  const node = element("div", { role: "listbox", tabindex: "0", class: "ck-source",
    "aria-label": "Source lines" }, ...rows.map((row) => row.node));
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (act.key(event.key)) event.preventDefault();
  });
  return { node, rows };
}

// The versions that can be compared: counts of a launch say nothing beside a warp's.
const alike = (traces, version) => traces.filter(({ scope }) =>
  scope === traces[version].scope);

// The largest amount of any line, in any version: all bars have one scale.
const scale = (traces, heat) => Math.max(1, ...traces.flatMap((trace) =>
  Object.values(trace.heats[heat] ?? {})));

const right = (guess, [amount]) => Math.abs(guess - amount) <= 0.05 * amount;
const verdict = (guess, rate) => right(guess, rate)
  ? `(${rate[0]} each: right)` : `(${rate[0]} each, not ${guess})`;
const verdictWords = (guess, rate) =>
  `predicted ${guess}, it is ${rate[0]} ${rate[1]} a request`;

// Brings one list up to date; `values` are the widget's, with the line chosen.
export function drawRows(list, traces, values) {
  const { heat, predicting, predicted, version } = values;
  const together = alike(traces, version);
  const other = together.length > 1 ? traces[1 - version] : null;
  const noted = !predicting && (other || Object.keys(predicted).length > 0);
  list.node.classList.toggle("ck-noted", Boolean(noted));
  const most = scale(together, heat);
  for (const row of list.rows) {
    const { number } = row;
    const trace = traces[version];
    const rate = trace.rates[number];
    const count = predicting ? 0 : trace.heats[heat]?.[number] ?? 0;
    const earlier = other?.heats[heat]?.[trace.pairs[number]] ?? 0;
    const changed = other && !predicting && earlier !== count && trace.pairs[number];
    drawRow(row, { count, rate, most, heat, guess: predicted[number],
      open: predicting && rate, earlier: changed ? earlier : null,
      then: version ? "was" : "then" });
    setAttribute(row.node, "class", "ck-row"
      + (trace.lines[values.step] === number ? " ck-here" : "")
      + (number === values.line ? " ck-line" : "") + (predicting && rate ? " ck-open" : ""));
    setAttribute(row.node, "aria-selected", number === values.line);
  }
}

function drawRow(row, { count, rate, most, heat, guess, open, earlier, then }) {
  const width = (share) => `${(share * 100).toFixed(1)}%`;
  row.fill.style.width = width(count ? Math.max(count / most, 0.03) : 0);
  row.mine.style.width = width(open ? (guess ?? 0) / MOST : 0);
  row.other.style.width = earlier === null ? "0" : width(earlier / most);
  const judged = !open && guess !== undefined && rate;
  const amount = open ? String(guess ?? "?") : count ? count.toLocaleString("en") : "";
  const change = earlier === null ? "" : ` (${then} ${earlier.toLocaleString("en")})`;
  setText(row.amount, judged ? `${amount} ${verdict(guess, rate)}`.trim()
    : change ? `${amount || 0}${change}` : amount);
  const words = open ? `, ${guess === undefined ? "no prediction"
    : `predicted ${guess}`} ${rate[1]} a request` : count ? `, ${count} ${heat}` : "";
  setAttribute(row.node, "aria-label", `line ${row.number}: ${row.text}${words}${change}`
    + (judged ? `, ${verdictWords(guess, rate)}` : ""));
}

// Scrolls the list, and nothing around it, until a row of a kind can be seen.
export function reveal({ node }, kind) {
  const row = node.querySelector(kind);
  if (!row || node.hidden) return;
  const [box, at] = [node.getBoundingClientRect(), row.getBoundingClientRect()];
  if (at.top >= box.top && at.bottom <= box.bottom) return;
  node.scrollTop += at.top - box.top - (box.height - at.height) / 2;
}

// What the reader is asked to predict, and afterwards how many were right.
export function score({ rates }, { predicting, predicted }) {
  const asked = Object.keys(rates);
  const given = asked.filter((number) => predicted[number] !== undefined);
  if (predicting) {
    return asked.length ? `Predict: how many sectors (shared memory: wavefronts) does `
      + `one request of a warp need on each line marked ?, 1 to ${MOST}. Click into the `
      + `bar, or choose the line and press the right or left arrow. `
      + `${given.length} of ${asked.length} predicted.`
      : "No line of this kernel reaches global or shared memory.";
  }
  if (!given.length) return "";
  const good = given.filter((number) => right(predicted[number], rates[number]));
  return `${good.length} of ${given.length} predictions right.`;
}

// The sums of one version, or of both and what became of them.
export function compared(traces, labels, { heat, predicting, version }) {
  const sums = traces.map((trace) => Object.values(trace.heats[heat] ?? {})
    .reduce((total, one) => total + one, 0));
  if (predicting) return "";
  const { scope } = traces[version];
  if (alike(traces, version).length < 2) {
    return `${heat} (${scope}): ${sums[version].toLocaleString("en")}`;
  }
  const [first, second] = sums;
  const each = sums.map((one, n) => `${labels[n]} ${one.toLocaleString("en")}`);
  const change = first === second ? "no change" : !second ? "none are left"
    : !first ? "there were none"
      : first > second ? `${Number((first / second).toPrecision(3))} times fewer`
        : `${Number((second / first).toPrecision(3))} times more`;
  return `${heat} (${scope}): ${each.join(", ")}; ${change}.`;
}
