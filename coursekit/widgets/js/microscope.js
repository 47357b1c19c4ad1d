// Kernel Microscope: the lines of a kernel with their heat, the steps of one warp,
// its 32 lanes, and where they reach: sectors of global memory, banks of shared.

import {
  drawn, element, follow, keepKeys, setAttribute, setText, show, slider, write,
} from "./shared.js";

const LANES = 32;
const [CELL, ROW] = [17, 22]; // a lane's box, in units of the picture
const WIDTH = LANES * CELL + 8;
const RECENT = 6; // registers of the chosen lane that are listed
const TRAITS = ["version", "step", "lane", "heat", "predicting", "predicted"];

// ------------------------------------------------------------- reading the trace

const bits = (text) => parseInt(text, 16) >>> 0;
const has = (mask, lane) => ((mask >>> lane) & 1) === 1;
const lanesOf = (mask) => Array.from({ length: LANES }, (_, n) => n)
  .filter((lane) => has(mask, lane));

// The value that a lane holds, of what Python packed for the lanes in a mask.
export function unpack(packed, mask, lane) {
  if (!has(mask, lane)) return null;
  if (!Array.isArray(packed)) return packed;
  if (packed[0] === "step") return packed[1] + lane * packed[2];
  return packed[lanesOf(mask).indexOf(lane)] ?? null;
}

function written(packed, mask, lane) {
  if (packed === null) return "left out";
  if (Array.isArray(packed) && packed[0] === "at") {
    const bytes = unpack(packed[2], mask, lane);
    return bytes === null ? "-" : `${packed[1]} + ${bytes} B`;
  }
  const value = unpack(packed, mask, lane);
  return value === null ? "-" : String(value);
}

function allLanes(packed, mask) {
  if (packed === null) return "left out, to keep the page small";
  const texts = lanesOf(mask).map((lane) => written(packed, mask, lane));
  if (!texts.length) return "no lane writes it";
  if (texts.every((text) => text === texts[0])) return `${texts[0]} in every lane`;
  return texts.length > 6
    ? [...texts.slice(0, 4), "...", texts.at(-1)].join(", ") : texts.join(", ");
}

function load(text) {
  const trace = JSON.parse(text);
  trace.count = trace.lines.length;
  trace.mask = (step) => bits(trace.masks[trace.maskOf[step]].split("/")[0]);
  trace.live = (step) => bits(trace.masks[trace.maskOf[step]].split("/")[1]);
  trace.last = trace.first + trace.code.length - 1;
  trace.at = Object.fromEntries(Object.entries(trace.accesses).map(([step, found]) =>
    [step, found.map((one) => place({ ...one, ...trace.kinds[one.kind],
      counts: trace.counts[one.counts], how: (one.how ?? []).map(([mask, form, values, bytes]) =>
        ({ mask: bits(mask), form: trace.forms[form], values, bytes })) }))]));
  return trace;
}

// Addresses of one access, lane by lane, and what they fall into.
function place(access) {
  const mask = bits(access.mask);
  const offsets = Array.from({ length: LANES }, (_, n) => unpack(access.at, mask, n));
  const shared = access.space === "shared";
  const sectors = offsets.map((at) =>
    at === null || access.space !== "global" ? null : Math.floor(at / 32));
  const banks = offsets.map((at) => at === null || !shared ? null
    : (((Math.floor(at / 4) + (access.bank ?? 0)) % 32) + 32) % 32);
  return { ...access, lanes: mask, offsets, sectors, banks, shared };
}

function elementName(access, lane) {
  const number = Math.floor(access.offsets[lane] / access.item);
  if (!access.shape || number < 0 || access.outside?.includes(lane)) {
    return `${access.array || "memory"}[${number}]`;
  }
  let rest = number;
  const index = [...access.shape].reverse().map((extent) => {
    const here = rest % extent;
    rest = Math.floor(rest / extent);
    return here;
  });
  return `${access.array}[${index.reverse().join(", ")}]`;
}

// How the chosen lane came to its element: names, then numbers, then where it is.
export function arithmetic(access, lane) {
  if (access.offsets[lane] === null) return [];
  const how = access.how.find(({ mask }) => has(mask, lane));
  const lines = [];
  if (how) {
    const text = (fill) => {
      let leaf = -1;
      return how.form.map((part) => typeof part === "string" ? part
        : fill(part[0], how.values[leaf += 1])).join("");
    };
    const whole = (index) => how.bytes ? `byte ${index} of ${access.array}`
      : `${access.array}[${index}]`;
    lines.push(whole(text((name) => name)));
    const numbers = whole(text((_, packed) => unpack(packed, how.mask, lane)));
    if (lines[0] !== numbers) lines.push(`= ${numbers}`);
  }
  const start = lines.length ? "= " : "";
  const where = access.shared ? `bank ${access.banks[lane]}`
    : access.space === "global" ? `sector ${access.sectors[lane]} of ${access.array}`
      : `${access.space} memory`;
  const out = access.outside?.includes(lane) ? ", outside the array" : "";
  lines.push(`${start}${elementName(access, lane)}: byte ${access.offsets[lane]}, `
    + `${where}${out}`);
  return lines;
}

function amountOf(access) {
  const found = Object.entries(access.counts).find(([name]) =>
    name.endsWith(access.shared ? "_wavefronts" : "_sectors"));
  if (found) return found[1];
  if (access.shared) return null;
  return new Set(access.sectors.filter((one) => one !== null)).size || null;
}

function idealOf(access) {
  const bytes = lanesOf(access.lanes).length * access.width;
  const same = new Set(access.offsets.filter((at) => at !== null)).size;
  const needed = Math.min(bytes, same * access.width);
  return Math.max(1, Math.ceil(needed / (access.shared ? 128 : 32)));
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function told(access) {
  const count = lanesOf(access.lanes).length;
  const verb = count === 1 ? access.verb : access.verb.replace(/s$/, "");
  const start = `${plural(count, "lane")} ${verb} ${access.array || access.space}`;
  const amount = amountOf(access);
  if (amount === null) return `${start}.`;
  const what = access.shared ? "wavefront" : "sector";
  const end = access.shared ? "" : ` of 32 bytes`;
  return `${start}: ${plural(amount, what)}${end}; at best ${idealOf(access)}.`;
}

// ------------------------------------------------------------------ source lines

function codeLine(parts) {
  return element("code", { class: "ck-code" }, ...parts.map(([kind, text]) =>
    kind === "plain" ? text : element("span", { class: `ck-t-${kind}` }, text)));
}

// The list of source lines. One stop of the Tab key; arrows go from line to line.
function sourceList(trace, name, act) {
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

// ------------------------------------------------------------------ the pictures

// Which lanes were active at each step: a strip, with a line at the step shown.
function maskStrip(choose) {
  const body = drawn("g", {});
  const cursor = drawn("rect", { class: "ck-cursor", y: 0, height: 64, width: 3 });
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} 64`,
    class: "ck-strip", preserveAspectRatio: "none" }, body, cursor);
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    choose((event.clientX - box.left) / box.width);
  });
  const fill = (trace) => {
    const shapes = [];
    const wide = WIDTH / trace.count;
    for (let start = 0; start < trace.count;) {
      let end = start + 1;
      while (end < trace.count && trace.maskOf[end] === trace.maskOf[start]) end += 1;
      shapes.push(...runs(trace.mask(start)).map(([from, to]) => drawn("rect", {
        x: (start * wide).toFixed(2), width: ((end - start) * wide).toFixed(2),
        y: from * 2, height: (to - from) * 2, class: "ck-on" })));
      start = end;
    }
    body.replaceChildren(...shapes);
  };
  const set = (trace, step) => {
    const wide = WIDTH / trace.count;
    setAttribute(cursor, "x", Math.max(0, (step + 0.5) * wide - 1.5).toFixed(2));
    setAttribute(svg, "aria-label", `Active lanes at each of ${trace.count} steps, `
      + `lane 0 on top. Marked: step ${step + 1}.`);
  };
  return { svg, fill, set };
}

function runs(mask) {
  const found = [];
  for (let lane = 0; lane < LANES;) {
    if (!has(mask, lane)) { lane += 1; continue; }
    const start = lane;
    while (lane < LANES && has(mask, lane)) lane += 1;
    found.push([start, lane]);
  }
  return found;
}

const MOST_BOXES = 32;
const [LANE_Y, BOX_Y, HEIGHT] = [20, 118, 178];

// The 32 lanes above; below them sectors or banks; arrows from lane to box.
function lanePicture(choose) {
  const text = (attributes, words = "") => drawn("text", attributes, words);
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    const box = drawn("rect", { x: 4 + lane * CELL, y: LANE_Y, width: CELL - 2,
      height: ROW, rx: 2 });
    const label = text({ x: 4 + lane * CELL + (CELL - 2) / 2, y: LANE_Y + 15,
      class: "ck-middle" }, String(lane));
    const node = drawn("g", {}, box, label);
    node.addEventListener("click", () => choose(lane));
    return node;
  });
  const arrows = Array.from({ length: LANES }, () => drawn("path", {}));
  const boxes = Array.from({ length: MOST_BOXES }, () => {
    const [box, above, below] = [drawn("rect", { y: BOX_Y, height: ROW, rx: 2 }),
      text({ y: BOX_Y + 15, class: "ck-middle" }), text({ y: BOX_Y + 36,
        class: "ck-middle ck-small" })];
    return { node: drawn("g", {}, box, above, below), box, above, below };
  });
  const headings = [text({ x: 4, y: 13, class: "ck-heading" }, "Lanes of the warp"),
    text({ x: 4, y: BOX_Y + 54 })];
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "ck-lanes" }, ...arrows, ...headings, ...lanes,
  ...boxes.map((one) => one.node));
  return { svg, lanes, arrows, boxes, heading: headings[1] };
}

function drawLanes(view, mask, live, lane, access) {
  view.lanes.forEach((node, n) => setAttribute(node, "class", "ck-lane"
    + (has(mask, n) ? " ck-on" : has(live, n) ? " ck-off" : " ck-gone")
    + (n === lane ? " ck-chosen" : "")));
  const targets = !access ? [] : access.shared ? access.banks : access.sectors;
  const used = [...new Set(targets.filter((one) => one !== null && one !== undefined))]
    .sort((a, b) => a - b);
  const names = access?.shared ? Array.from({ length: LANES }, (_, n) => n) : used;
  const wide = access?.shared ? CELL : Math.min(64, (WIDTH - 8) / (names.length || 1));
  const middle = (n) => 4 + (names.indexOf(n) + 0.5) * wide - 1;
  view.boxes.forEach((box, n) => {
    show(box.node, n < names.length);
    if (n < names.length) drawBox(box, access, names[n], [4 + n * wide, wide, n]);
  });
  view.arrows.forEach((path, n) => {
    const target = targets[n] ?? null;
    show(path, target !== null);
    if (target === null) return;
    const [from, to] = [4 + n * CELL + (CELL - 2) / 2, middle(target)];
    setAttribute(path, "d", `M${from} ${LANE_Y + ROW} C${from} ${LANE_Y + 62} `
      + `${to.toFixed(1)} ${BOX_Y - 48} ${to.toFixed(1)} ${BOX_Y}`);
    setAttribute(path, "class", `ck-arrow${n === lane ? " ck-chosen" : ""}`);
  });
  setText(view.heading, !used.length ? "" : access.shared
    ? "Below each bank of shared memory: how many of its words are asked for."
    : `Below each sector of ${access.array}: its first element.`
      + " In it, where it fits: how many lanes share it.");
  return used.length;
}

function drawBox(one, access, target, [x, wide, position]) {
  const width = Math.max(3, wide - 2);
  setAttribute(one.box, "x", x.toFixed(1));
  setAttribute(one.box, "width", width.toFixed(1));
  for (const label of [one.above, one.below]) {
    setAttribute(label, "x", (x + width / 2).toFixed(1));
  }
  if (access.shared) {
    const words = new Set(access.offsets.filter((at, lane) =>
      at !== null && access.banks[lane] === target).map((at) => Math.floor(at / 4)));
    setText(one.above, String(target));
    setText(one.below, words.size ? `${words.size}` : "");
    setAttribute(one.node, "class", "ck-box"
      + (words.size > 1 ? " ck-conflict" : words.size ? " ck-on" : " ck-off"));
    return;
  }
  const users = access.sectors.filter((sector) => sector === target).length;
  setText(one.above, wide > 22 ? `${users}` : "");
  const element = String(Math.ceil((target * 32) / access.item));
  const every = Math.ceil((element.length + 1) * 6 / wide); // labels that fit
  setText(one.below, position % every ? "" : element);
  setAttribute(one.node, "class", `ck-box ck-on${users * access.width < 16
    ? " ck-conflict" : ""}`);
}

// ----------------------------------------------------------------- the microscope

function render({ model, el }) {
  const traces = model.get("views").map(load);
  const labels = model.get("labels");
  const name = `ck-${Math.random().toString(36).slice(2, 8)}`;
  const state = () => Object.fromEntries(TRAITS.map((one) => [one, model.get(one)]));
  const now = () => traces[model.get("version")];
  let line = null; // the chosen source line

  const goTo = (step) => write(model, {
    step: Math.min(now().count - 1, Math.max(0, step)) });

  // The next access after a step, of one line or of any; round to the first.
  function nextAccess(from, wanted = null) {
    const steps = Object.keys(now().accesses).map(Number)
      .filter((step) => wanted === null || now().lines[step] === wanted);
    return steps.find((step) => step > from) ?? steps[0] ?? null;
  }

  function predict(number, amount) {
    if (!model.get("predicting") || !now().rates[number]) return false;
    const most = Math.min(32, Math.max(1, amount));
    write(model, { predicted: { ...model.get("predicted"), [number]: most } });
    return true;
  }

  function selectLine(number) {
    line = number;
    const wanted = nextAccess(model.get("step"), number)
      ?? now().lines.findIndex((one) => one === number);
    if (wanted !== null && wanted >= 0) goTo(wanted);
    update();
  }

  function pressed(key) {
    const trace = now();
    const at = line ?? trace.first;
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: trace.first,
      End: trace.last };
    if (key in moves) {
      selectLine(Math.min(trace.last, Math.max(trace.first, moves[key])));
      return true;
    }
    if (key === "Enter" || key === " ") { selectLine(at); return true; }
    const ways = { ArrowRight: 1, ArrowLeft: -1, "+": 1, "-": -1 };
    if (!(key in ways)) return false;
    predict(at, (model.get("predicted")[at] ?? 0) + ways[key]);
    return true;
  }

  const lists = traces.map((trace, n) => sourceList(trace, `${name}-${n}`, {
    click(number, share) {
      if (share !== null && predict(number, Math.round(share * 32))) line = number;
      else selectLine(number);
      update();
    },
    key: pressed,
  }));

  const title = element("strong", {});
  const place = element("span", { class: "ck-place" });
  const versions = element("select", {}, ...labels.map((text, value) =>
    element("option", { value }, text)));
  versions.addEventListener("change", () => {
    line = null;
    const version = Number(versions.value);
    const step = Math.min(model.get("step"), traces[version].count - 1);
    write(model, { version, step });
  });
  const titles = [...new Set(traces.flatMap((trace) => Object.keys(trace.heats)))];
  const heats = element("select", {}, ...titles.map((text) =>
    element("option", { value: text }, text)));
  heats.addEventListener("change", () => write(model, { heat: heats.value }));
  const versionLabel = element("label", { class: "ck-slider" }, "version ", versions);
  const heatLabel = element("label", { class: "ck-slider" }, "heat ", heats);
  const mode = element("button", { type: "button" });
  mode.addEventListener("click", () => {
    const predicting = !model.get("predicting");
    write(model, predicting ? { predicting, predicted: {} } : { predicting });
  });
  const top = element("div", { class: "ck-controls" }, versionLabel, heatLabel, mode);
  const totals = element("p", { class: "ck-totals" });
  const advice = element("p", { class: "ck-advice" });
  const error = element("pre", { class: "ck-error" });

  const button = (text, act) => {
    const node = element("button", { type: "button" }, text);
    node.addEventListener("click", act);
    return node;
  };
  const steps = slider("step", 0, 0, goTo);
  steps.node.classList.add("ck-steps");
  steps.input.addEventListener("keydown", (event) => {
    const way = { PageUp: 1, PageDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const { lines, count } = now();
    let step = model.get("step");
    do step += way; while (step > 0 && step < count - 1 && lines[step] === lines[step - way]);
    goTo(step);
  });
  const buttons = element("div", { class: "ck-controls" },
    button("Back", () => goTo(model.get("step") - 1)),
    button("Next", () => goTo(model.get("step") + 1)),
    button("Next access", () => {
      const step = nextAccess(model.get("step"));
      if (step !== null) goTo(step);
    }));
  const lane = slider("lane", 0, LANES - 1, (value) => write(model, { lane: value }));
  const strip = maskStrip((share) => goTo(Math.floor(share * now().count)));
  const picture = lanePicture((value) => write(model, { lane: value }));
  const ptx = element("code", { class: "ck-ptx" });
  const said = element("p", { role: "status" });
  const how = element("div", { class: "ck-how" });
  const table = element("table", { class: "ck-registers" });
  const sides = element("div", { class: "ck-sides" },
    element("div", { class: "ck-left" }, ...lists.map((list) => list.node)),
    element("div", { class: "ck-right" }, steps.node, buttons, strip.svg,
      element("p", {}, ptx), said, picture.svg, lane.node, how),
    element("div", { class: "ck-table" }, table));

  el.classList.add("ck-widget", "ck-microscope");
  el.append(element("p", {}, title, " ", place), top, advice, totals, error, sides);
  versionLabel.hidden = traces.length < 2;

  let filled = null;

  // --------------------------------------------------------------------- updating

  // The largest amount of any line, in any version: all bars have one scale.
  const scale = (heat) => Math.max(1, ...traces.flatMap((trace) =>
    Object.values(trace.heats[heat] ?? {})));

  function drawRows({ heat, predicting, predicted, step, version }) {
    const trace = traces[version];
    const most = scale(heat);
    const counts = trace.heats[heat] ?? {};
    const other = traces[1 - version];
    const noted = !predicting && (other || Object.keys(predicted).length > 0);
    lists.forEach((list, n) => {
      list.node.hidden = n !== version;
      list.node.classList.toggle("ck-noted", Boolean(noted));
    });
    for (const row of lists[version].rows) {
      const number = row.number;
      const rate = trace.rates[number];
      const guess = predicted[number];
      const open = predicting && rate;
      const share = predicting ? 0 : (counts[number] ?? 0) / most;
      const judged = !predicting && guess !== undefined && rate;
      row.fill.style.width = `${Math.max(share * 100, share ? 3 : 0).toFixed(1)}%`;
      const mine = open ? guess ?? 0 : 0;
      row.mine.style.width = `${((mine / 32) * 100).toFixed(1)}%`;
      const amount = open ? (guess === undefined ? "?" : `${guess}`)
        : predicting || !counts[number] ? "" : counts[number].toLocaleString("en");
      const earlier = other?.heats[heat]?.[trace.pairs[number]] ?? 0;
      const changed = other && !predicting && earlier !== (counts[number] ?? 0)
        && trace.pairs[number] ? ` (${version ? "was" : "then"} ${
          earlier.toLocaleString("en")})` : "";
      row.other.style.width = changed ? `${((earlier / most) * 100).toFixed(1)}%` : "0";
      setText(row.amount, judged ? `${amount} ${verdict(guess, rate)}`.trim()
        : changed ? `${amount || 0}${changed}` : amount);
      setAttribute(row.node, "class", "ck-row"
        + (trace.lines[step] === number ? " ck-here" : "")
        + (number === line ? " ck-line" : "") + (open ? " ck-open" : ""));
      setAttribute(row.node, "aria-selected", number === line);
      const words = open ? `, ${guess === undefined ? "no prediction"
        : `predicted ${guess}`} ${rate[1]} a request`
        : !predicting && counts[number] ? `, ${counts[number]} ${heat}` : "";
      setAttribute(row.node, "aria-label", `line ${number}: ${row.text}${words}`
        + changed + (judged ? `, ${verdictWords(guess, rate)}` : ""));
    }
    const chosen = line === null ? "" : `${name}-${version}-${line}`;
    setAttribute(lists[version].node, "aria-activedescendant", chosen);
  }

  const right = (guess, [amount]) => Math.abs(guess - amount) <= 0.05 * amount;
  const verdict = (guess, rate) => right(guess, rate)
    ? `(${rate[0]} each: right)` : `(${rate[0]} each, not ${guess})`;
  const verdictWords = (guess, rate) =>
    `predicted ${guess}, it is ${rate[0]} ${rate[1]} a request`;

  function score({ predicting, predicted, version }) {
    const rates = traces[version].rates;
    const asked = Object.keys(rates);
    const given = asked.filter((number) => predicted[number] !== undefined);
    if (predicting) {
      return asked.length ? `Predict: how many sectors (shared memory: wavefronts) does `
        + `one request of a warp need on each line marked ?, 1 to 32. Click into the `
        + `bar, or choose the line and press the right or left arrow. `
        + `${given.length} of ${asked.length} predicted.`
        : "No line of this kernel reaches global or shared memory.";
    }
    if (!given.length) return "";
    const good = given.filter((number) => right(predicted[number], rates[number]));
    return `${good.length} of ${given.length} predictions right.`;
  }

  function compared({ heat, predicting }) {
    const sum = (trace) => Object.values(trace.heats[heat] ?? {})
      .reduce((total, one) => total + one, 0);
    if (predicting) return "";
    const sums = traces.map(sum);
    const each = sums.map((one, n) =>
      `${labels[n]} ${one.toLocaleString("en")}`).join(", ");
    const scope = ` (${now().scope})`;
    if (sums.length < 2) return `${heat}${scope}: ${sums[0].toLocaleString("en")}`;
    const [first, second] = sums;
    const change = first === second ? "no change" : !second ? "none are left"
      : !first ? "there were none"
        : first > second ? `${Number((first / second).toPrecision(3))} times fewer`
          : `${Number((second / first).toPrecision(3))} times more`;
    return `${heat}${scope}: ${each}; ${change}.`;
  }

  function drawStep({ step, lane: chosen, predicting }) {
    const trace = now();
    const [mask, live] = [trace.mask(step), trace.live(step)];
    const found = trace.at[step] ?? [];
    const access = found[0];
    const hidden = predicting && access;
    setText(ptx, trace.ptx[trace.ptxOf[step]]);
    strip.set(trace, step);
    const count = lanesOf(mask).length;
    const jump = trace.jumps[step];
    const words = [`Step ${step + 1} of ${trace.count}`
      + (trace.lines[step] ? `, line ${trace.lines[step]}` : "")
      + `: ${plural(count, "lane")} active.`];
    if (jump) {
      words.push(`The warp parts: ${plural(lanesOf(bits(jump)).length, "lane")} `
        + `of ${count} jump.`);
    }
    words.push(...(hidden ? ["Reveal to see where the lanes reach."]
      : found.map(told)));
    setText(said, words.join(" "));
    const boxes = drawLanes(picture, mask, live, chosen, hidden ? null : access);
    setAttribute(picture.svg, "viewBox", `0 0 ${WIDTH} ${boxes ? HEIGHT : 48}`);
    setAttribute(picture.svg, "aria-label", `Lanes of the warp. ${words.join(" ")}`);
    const lines = access && !hidden ? arithmetic(access, chosen) : [];
    const idle = access && !hidden && !lines.length
      ? [`Lane ${chosen} takes no part in this access.`] : [];
    setLines(how, [...lines, ...idle]);
    drawRegisters(trace, step, chosen);
    return words.join(" ");
  }

  function drawRegisters(trace, step, chosen) {
    const rows = [];
    const seen = new Set();
    for (let at = step; at >= 0 && rows.length < RECENT; at -= 1) {
      for (const [register, packed] of trace.writes[at]) {
        const text = trace.registers[register];
        if (seen.has(text) || (at < step && !has(trace.mask(at), chosen))) continue;
        seen.add(text);
        rows.push([text, written(packed, trace.mask(at), chosen),
          at === step ? allLanes(packed, trace.mask(at)) : `written at step ${at + 1}`]);
      }
    }
    setRows(table, ["register", `lane ${chosen}`, "all lanes, or when"], rows);
  }

  function update() {
    const values = state();
    const trace = now();
    const step = Math.min(values.step, trace.count - 1);
    values.step = step;
    if (filled !== trace) strip.fill(filled = trace);
    setText(title, `Kernel Microscope: ${trace.kernel}`);
    setText(place, `${trace.place}${trace.full ? `, its first ${trace.count} steps` : ""}`);
    if (versions.value !== String(values.version)) versions.value = values.version;
    if (heats.value !== values.heat) heats.value = values.heat;
    heatLabel.hidden = values.predicting || !titles.length;
    setText(mode, values.predicting ? "Reveal" : "Hide the counts and predict");
    setText(advice, score(values));
    setText(totals, titles.length ? compared(values) : "");
    error.hidden = !trace.error;
    setText(error, trace.error);
    drawRows(values);
    const words = drawStep(values);
    steps.set(step, words, trace.count - 1);
    setText(steps.node.lastChild, `${step + 1} of ${trace.count}`);
    lane.set(values.lane, `lane ${values.lane}${how.textContent
      ? `: ${how.textContent}` : ""}`);
  }

  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
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

export default { render };
