// One step of the microscope's warp: its lanes, where they reach, and its registers.

import { button, element, plural, setAttribute, setText, slider } from "./shared.js";
import { drawLanes, lanePicture, maskStrip } from "./microscope_lanes.js";
import {
  LANES, allLanes, arithmetic, bits, has, lanesOf, told, written,
} from "./microscope_trace.js";

const RECENT = 6; // registers of the chosen lane that are listed

// The step after or before this one at which another source line begins.
function otherLine({ lines, count }, from, way) {
  let step = from;
  do step += way; while (step > 0 && step < count - 1 && lines[step] === lines[step - way]);
  return step;
}

function stepSlider(act) {
  const steps = slider("step", 0, 0, act.goTo);
  steps.node.classList.add("ck-steps");
  steps.input.addEventListener("keydown", (event) => {
    const way = { PageUp: 1, PageDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    act.goTo(otherLine(act.trace(), act.step(), way));
  });
  return steps;
}

// `act` has trace(), step(), goTo(step), goToAccess() and choose(lane).
export function stepView(act) {
  const steps = stepSlider(act);
  const strip = maskStrip((share) => act.goTo(Math.floor(share * act.trace().count)));
  const picture = lanePicture(act.choose);
  const lane = slider("lane", 0, LANES - 1, act.choose);
  const buttons = element("div", { class: "ck-controls" },
    button("Back", () => act.goTo(act.step() - 1)),
    button("Next", () => act.goTo(act.step() + 1)),
    button("Next access", act.goToAccess));
  const ptx = element("code", { class: "ck-ptx" });
  const said = element("p", { role: "status" });
  const how = element("div", { class: "ck-how" });
  const table = element("table", { class: "ck-registers" });
  const node = element("div", { class: "ck-right" }, steps.node, buttons, strip.svg,
    element("p", {}, ptx), said, picture.svg, lane.node, how);
  let filled = null;

  function draw(trace, { step, lane: chosen, predicting }) {
    if (filled !== trace) strip.fill(filled = trace);
    strip.set(trace, step);
    setText(ptx, trace.ptx[trace.ptxOf[step]]);
    const access = trace.at[step]?.[0];
    const hidden = predicting && access;
    const words = inWords(trace, step, hidden);
    setText(said, words);
    drawLanes(picture, trace.mask(step), trace.live(step), chosen,
      hidden ? null : access);
    setAttribute(picture.svg, "aria-label", `Lanes of the warp. ${words}`);
    setLines(how, access && !hidden ? indexOf(access, chosen) : []);
    setRows(table, ["register", `lane ${chosen}`, "all lanes, or when"],
      registers(trace, step, chosen));
    steps.set(step, words, trace.count - 1);
    setText(steps.node.lastChild, `${step + 1} of ${trace.count}`);
    lane.set(chosen, `lane ${chosen}${how.textContent ? `: ${how.textContent}` : ""}`);
  }
  return { node, table, draw };
}

function inWords(trace, step, hidden) {
  const count = lanesOf(trace.mask(step)).length;
  const jump = trace.jumps[step];
  const words = [`Step ${step + 1} of ${trace.count}`
    + (trace.lines[step] ? `, line ${trace.lines[step]}` : "")
    + `: ${plural(count, "lane")} active.`];
  if (jump) {
    words.push(`The warp parts: ${plural(lanesOf(bits(jump)).length, "lane")} `
      + `of ${count} jump.`);
  }
  words.push(...(hidden ? ["Reveal to see where the lanes reach."]
    : (trace.at[step] ?? []).map(told)));
  return words.join(" ");
}

function indexOf(access, lane) {
  const lines = arithmetic(access, lane);
  return lines.length ? lines : [`Lane ${lane} takes no part in this access.`];
}

// The registers that the lane wrote last, with what this step wrote in all lanes.
function registers(trace, step, lane) {
  const rows = [];
  const seen = new Set();
  for (let at = step; at >= 0 && rows.length < RECENT; at -= 1) {
    for (const [register, packed] of trace.writes[at]) {
      const text = trace.registers[register];
      if (seen.has(text) || (at < step && !has(trace.mask(at), lane))) continue;
      seen.add(text);
      rows.push([text, written(packed, trace.mask(at), lane),
        at === step ? allLanes(packed, trace.mask(at)) : `written at step ${at + 1}`]);
    }
  }
  return rows;
}

// Lines of text in place: nodes that are there are kept.
function setLines(node, lines) {
  while (node.children.length < lines.length) node.append(element("div"));
  [...node.children].forEach((child, n) => {
    child.hidden = n >= lines.length;
    setText(child, lines[n] ?? "");
  });
}

function setRows(table, headings, rows) {
  if (!table.tHead) {
    table.append(element("caption", {}, "Registers written last"),
      element("thead", {}, element("tr", {}, ...headings.map(() =>
        element("th", { scope: "col" })))), element("tbody"));
  }
  headings.forEach((text, n) => setText(table.tHead.rows[0].cells[n], text));
  const body = table.tBodies[0];
  while (body.rows.length < rows.length) {
    body.append(element("tr", {}, ...headings.map(() => element("td"))));
  }
  [...body.rows].forEach((row, n) => {
    row.hidden = n >= rows.length;
    headings.forEach((_, k) => setText(row.cells[k], rows[n]?.[k] ?? ""));
  });
}
