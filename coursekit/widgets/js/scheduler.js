// Be the Scheduler: warps as cards, races as arcs between lines, barriers to place.
//
// What a warp does next, who waits at a barrier and which accesses race follows from
// the stage that the notebook sent. Whether the result is right, only it can tell.

import {
  drawn, element, follow, keepKeys, setAttribute, setText, show, write,
} from "./shared.js";

const ROW = 28; // height of a source line, in pixels; the style sheet says so, too
const [GUTTER, MOST_ARCS] = [56, 24];
const TRIES = 3;
const TRAITS = ["stage", "played", "barriers", "verdict", "outcome", "best", "players"];

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const listed = (words) => words.length < 2 ? words.join("")
  : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

// --------------------------------------------------------------------- the rules

// How many turns each warp has had.
export function turnsOf(stage, played) {
  const done = stage.warps.map(() => 0);
  for (const warp of played) done[warp] += 1;
  return done;
}

// For each warp its next event, and the warps that it waits for at a barrier.
export function cardsOf(stage, played) {
  const done = turnsOf(stage, played);
  const next = stage.warps.map((events, warp) => events[done[warp]] ?? null);
  return next.map((event, warp) => {
    const waits = !event ? [] : next.flatMap((other, n) =>
      other && other.epoch < event.epoch ? [n] : []);
    return { warp, event, waits, done: done[warp], able: event !== null && !waits.length,
      all: stage.warps[warp].length };
  });
}

// Races of which both sides have been played; the later side says when.
export function racesSeen(stage, played) {
  const when = {};
  const done = stage.warps.map(() => 0);
  played.forEach((warp, turn) => {
    when[`${warp}/${done[warp]}`] = turn;
    done[warp] += 1;
  });
  return stage.races.flatMap((race) => {
    const [a, b] = [when[race.a.join("/")], when[race.b.join("/")]];
    if (a === undefined || b === undefined) return [];
    const [first, second] = a < b ? [race.a, race.b] : [race.b, race.a];
    return [{ ...race, first, second, turn: Math.max(a, b) }];
  });
}

const eventOf = (stage, [warp, number]) => stage.warps[warp][number];

export function toldRace(stage, race) {
  const [one, other] = [eventOf(stage, race.first), eventOf(stage, race.second)];
  return `Race on ${race.what}: warp ${race.first[0]} ${one.verb} it on line `
    + `${one.line}, warp ${race.second[0]} ${other.verb} it on line ${other.line}. `
    + `No barrier stands between; this time warp ${race.first[0]} came first.`;
}

// ------------------------------------------------------------------------ source

function codeLine(parts) {
  return element("code", { class: "ck-code" }, ...parts.map(([kind, text]) =>
    kind === "plain" ? text : element("span", { class: `ck-t-${kind}` }, text)));
}

// The kernel with a place for a barrier before each line that can have one. The
// places are one stop of the Tab key; arrows go from place to place.
function sourceOf(model, toggle) {
  const slots = new Map();
  const [first, code] = [model.get("first"), model.get("code")];
  const rows = code.map((parts, index) => {
    const line = first + index;
    const node = element("div", { class: "ck-row" },
      element("span", { class: "ck-number" }, String(line)), codeLine(parts));
    if (model.get("slots").includes(line)) {
      const mark = element("span", { class: "ck-mark" });
      const slot = element("button", { type: "button", class: "ck-slot",
        draggable: "true", tabindex: slots.size ? "-1" : "0", "aria-pressed": "false",
        "aria-label": `barrier before line ${line}` }, mark);
      slot.addEventListener("click", () => toggle(line));
      slots.set(line, { slot, mark });
      node.append(slot);
    }
    return node;
  });
  const lines = [...slots.keys()];
  const node = element("div", { role: "group", class: "ck-source", tabindex: "-1",
    "aria-label": "Kernel, with places for barriers" },
  element("div", { class: "ck-rows" }, ...rows));
  node.addEventListener("keydown", (event) => {
    const at = lines.findIndex((line) => slots.get(line).slot === event.target);
    const way = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !way) return;
    event.preventDefault();
    const to = Math.min(lines.length - 1, Math.max(0, at + way));
    for (const [line, one] of slots) {
      setAttribute(one.slot, "tabindex", line === lines[to] ? "0" : "-1");
    }
    slots.get(lines[to]).slot.focus();
  });
  return { node, slots, first };
}

// A barrier can be dragged: from the tray, from place to place, and back.
function dragging(source, tray, change) {
  let from = null;
  const start = (node, line) => node.addEventListener("dragstart", (event) => {
    from = { line };
    event.dataTransfer?.setData("text/plain", "barrier");
  });
  const drop = (node, line) => {
    node.addEventListener("dragover", (event) => event.preventDefault());
    node.addEventListener("drop", (event) => {
      event.preventDefault();
      if (from) change(from.line, line);
      from = null;
    });
  };
  start(tray, null);
  drop(tray, null);
  for (const [line, { slot }] of source.slots) {
    start(slot, line);
    drop(slot, line);
  }
}

// Arcs to the left of the lines, one for each pair of lines that race.
function arcsBeside(rows) {
  const arcs = Array.from({ length: MOST_ARCS }, () => {
    const [path, dots] = [drawn("path", {}), [drawn("circle", { r: 4 }),
      drawn("circle", { r: 4 })]];
    return { node: drawn("g", {}, path, ...dots), path, dots };
  });
  const svg = drawn("svg", { role: "img", class: "ck-arcs", width: GUTTER,
    height: rows * ROW, viewBox: `0 0 ${GUTTER} ${rows * ROW}` },
  ...arcs.map((arc) => arc.node));
  const set = (pairs, first) => {
    arcs.forEach((arc, n) => {
      show(arc.node, n < pairs.length);
      if (n >= pairs.length) return;
      const ys = pairs[n].lines.map((line) => (line - first + 0.5) * ROW);
      const out = Math.min(GUTTER - 12, 12 + Math.abs(ys[0] - ys[1]) / 4 + n * 5);
      const x = GUTTER - 5;
      setAttribute(arc.path, "d", ys[0] === ys[1]
        ? `M${x} ${ys[0] - 5} C${x - 34} ${ys[0] - 16} ${x - 34} ${ys[0] + 16} ${x} `
          + `${ys[0] + 5}`
        : `M${x} ${ys[0]} C${x - out} ${ys[0]} ${x - out} ${ys[1]} ${x} ${ys[1]}`);
      arc.dots.forEach((dot, k) => {
        setAttribute(dot, "cx", x);
        setAttribute(dot, "cy", ys[k] + (ys[0] === ys[1] ? 10 * k - 5 : 0));
      });
      setAttribute(arc.node, "class", `ck-arc${pairs[n].latest ? " ck-latest" : ""}`);
    });
    setAttribute(svg, "aria-label", pairs.length
      ? `Races between ${listed(pairs.map(({ lines }) => `lines ${lines.join(" and ")}`))}`
      : "No race so far");
  };
  return { svg, set };
}

function linePairs(stage, races) {
  const latest = Math.max(-1, ...races.map((race) => race.turn));
  const pairs = new Map();
  for (const race of races) {
    const lines = [race.first, race.second].map((side) => eventOf(stage, side).line)
      .sort((a, b) => a - b);
    const key = lines.join("/");
    const known = pairs.get(key)?.latest;
    pairs.set(key, { lines, latest: known || race.turn === latest });
  }
  return [...pairs.values()].slice(0, MOST_ARCS);
}

// ------------------------------------------------------------------------- cards

function cardOf(warp, play) {
  const [title, next, dots] = [element("strong", {}, `Warp ${warp}`),
    element("span", { class: "ck-next" }), element("span", { class: "ck-dots" })];
  const node = element("button", { type: "button", class: "ck-card" }, title, dots, next);
  node.addEventListener("click", () => {
    if (node.getAttribute("aria-disabled") !== "true") play(warp);
  });
  const set = (card, hidden) => {
    setAttribute(node, "aria-disabled", !card.able || hidden);
    setText(dots, card.event ? ` turn ${card.done + 1} of ${card.all}` : "");
    const { event, waits } = card;
    setText(next, hidden ? "hidden while the barriers are placed"
      : !event ? `has done ${card.all === 1 ? "its turn" : `all ${card.all} turns`}`
        : waits.length ? `waits at a barrier for warp${waits.length > 1 ? "s" : ""} ${
          listed(waits.map(String))}`
          : `${event.verb} ${event.what}, line ${event.line}`);
    setAttribute(node, "class", "ck-card" + (hidden || !event ? " ck-over"
      : waits.length ? " ck-waits" : event.verb === "reads" ? " ck-reads" : " ck-writes"));
  };
  return { node, set };
}

// ---------------------------------------------------------------------- the game

function render({ model, el }) {
  const get = (name) => model.get(name);
  const duel = { placing: true, tries: 0, writer: 0, scheduler: 0 };
  let asked = null; // the barriers for which all orders are being tried
  let counted = null; // the verdict that the duel has counted
  const play = (warp) => write(model, { played: [...get("played"), warp] });
  const hidden = () => get("players") === 2 && duel.placing;

  function change(from, to) {
    if (get("players") === 2 && !duel.placing) return;
    const kept = get("barriers").filter((line) => line !== from);
    const barriers = to === null || kept.includes(to) ? kept : [...kept, to];
    barriers.sort((a, b) => a - b);
    if (String(barriers) !== String(get("barriers"))) {
      write(model, { barriers, played: [], verdict: {}, outcome: {} });
    }
  }

  const source = sourceOf(model, (line) =>
    (get("barriers").includes(line) ? change(line, null) : change(null, line)));
  const arcs = arcsBeside(get("code").length);
  const cards = get("stage").warps.map((_, warp) => cardOf(warp, play));
  const button = (text, act) => {
    const node = element("button", { type: "button" }, text);
    node.addEventListener("click", act);
    return node;
  };
  const undo = button("Take back", () => write(model, {
    played: get("played").slice(0, -1), verdict: {} }));
  const again = button("Start again", () => write(model, { played: [], verdict: {} }));
  const all = button("Try all orders", () => {
    asked = String(get("barriers"));
    write(model, { trials: get("trials") + 1, outcome: {} });
    update();
  });
  const replay = button("Play the wrong order", () => write(model, {
    played: [...get("outcome").order] }));
  const hand = button("Hand over to the scheduler", () => {
    Object.assign(duel, { placing: false, tries: 0 });
    write(model, { played: [], verdict: {} });
    update();
  });
  const players = element("select", {}, element("option", { value: 1 }, "one player"),
    element("option", { value: 2 }, "two: one writes, one schedules"));
  players.addEventListener("change", () => {
    Object.assign(duel, { placing: true, tries: 0, writer: 0, scheduler: 0 });
    write(model, { players: Number(players.value), played: [], verdict: {} });
  });
  const tray = element("span", { class: "ck-tray", draggable: "true" },
    "drag a barrier: __syncthreads()");
  const title = element("p", {}, element("strong", {},
    `Be the Scheduler: ${get("kernel")}`));
  const task = element("p", { class: "ck-task" });
  const error = element("pre", { class: "ck-error" });
  const told = element("p", { role: "status" });
  const verdict = element("p", { role: "status", class: "ck-verdict" });
  const tried = element("p", { role: "status" });
  const points = element("p", { class: "ck-points" });
  const log = element("p", { class: "ck-log" });
  dragging(source, tray, change);

  el.classList.add("ck-widget", "ck-scheduler");
  const cardBox = element("div", { class: "ck-cards", role: "group",
    "aria-label": "Warps" }, ...cards.map((card) => card.node));
  el.append(title, element("div", { class: "ck-controls" },
    element("label", { class: "ck-slider" }, "players ", players), tray), task, error,
  element("div", { class: "ck-sides" },
    element("div", { class: "ck-left" }, arcs.svg, source.node),
    element("div", { class: "ck-right" }, cardBox,
      element("div", { class: "ck-controls" }, undo, again, all, replay, hand),
      log, told, verdict, tried, points)));
  el.addEventListener("keydown", (event) => {
    const warp = "0123456789".indexOf(event.key);
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (warp < 0 || !cards[warp] || !plain || hidden()) return;
    if (event.target.tagName === "SELECT") return;
    if (cardsOf(get("stage"), get("played"))[warp].able) play(warp);
  });

  function countDuel(ended, wrong) {
    if (get("players") !== 2 || duel.placing || !ended || counted === get("verdict")) {
      return;
    }
    counted = get("verdict");
    duel.tries += 1;
    if (wrong) duel.scheduler += 1;
    else if (duel.tries === TRIES) duel.writer += 1;
    if (wrong || duel.tries === TRIES) duel.placing = true;
  }

  function taskText(over, ended) {
    if (get("players") === 2) {
      return duel.placing
        ? "Writer: place as few barriers as you dare, then hand over."
        : `Scheduler: make the result wrong. Try ${duel.tries + (ended ? 0 : 1)} of `
          + `${TRIES}.`;
    }
    if (over) return "The block is done.";
    return "Pick the warp that runs next, in an order that makes the result wrong: click "
      + "a card, or press its number. Then place barriers between the lines until no "
      + "order is wrong.";
  }

  function triedText(outcome) {
    if (asked !== null && outcome.tried === undefined) {
      return "Trying orders; if nothing comes, run the cell again to wake the notebook.";
    }
    if (outcome.tried === undefined) return "";
    asked = null;
    const which = outcome.every ? `all ${outcome.tried}` : `${outcome.tried} random`;
    const count = plural(get("barriers").length, "barrier");
    if (outcome.wrong) {
      return `Wrong in ${outcome.wrong} of ${which} orders, with ${count}: ${outcome.why}.`;
    }
    const best = get("best");
    return `Right in ${which} orders, with ${count}.`
      + (best === null ? "" : ` Your best: ${best}. Does it go with fewer?`);
  }

  function drawBarriers() {
    const placed = get("barriers");
    for (const [line, { slot, mark }] of source.slots) {
      const on = placed.includes(line);
      setAttribute(slot, "aria-pressed", on);
      setText(mark, on ? "__syncthreads()" : "");
    }
  }

  function update() {
    const [stage, played] = [get("stage"), get("played")];
    const now = cardsOf(stage, played);
    const over = now.every((card) => card.event === null);
    const given = get("verdict");
    const ended = over && played.length > 0
      && String(given.played ?? "") === String(played);
    countDuel(ended, Boolean(given.wrong));
    if (players.value !== String(get("players"))) players.value = get("players");
    now.forEach((card) => cards[card.warp]?.set(card, hidden()));
    drawBarriers();
    const races = hidden() ? [] : racesSeen(stage, played);
    arcs.set(linePairs(stage, races), source.first);
    setText(task, taskText(over, ended));
    error.hidden = !stage.error;
    setText(error, stage.error);
    setText(log, played.length ? `Order so far: ${played.join(", ")}` : "");
    const last = races.filter((race) => race.turn === played.length - 1).at(-1);
    setText(told, last ? toldRace(stage, last)
      : races.length ? `${plural(races.length, "race")} so far.` : "");
    setAttribute(verdict, "data-verdict",
      !ended ? "open" : given.wrong ? "wrong" : "right");
    setText(verdict, !over || !played.length ? "" : !ended
      ? "The notebook is asked whether the result is right; if nothing comes, run the cell."
      : given.wrong ? `You broke it: ${given.wrong}.`
        : races.length ? "The result is right this time, though it raced."
          : "The result is right.");
    setText(tried, triedText(get("outcome")));
    setText(points, get("players") === 2
      ? `Points: writer ${duel.writer}, scheduler ${duel.scheduler}.` : "");
    setAttribute(undo, "aria-disabled", !played.length);
    replay.hidden = !get("outcome").order;
    hand.hidden = !hidden();
    all.hidden = get("players") === 2 || Boolean(stage.error);
    const turns = stage.warps.reduce((sum, events) => sum + events.length, 0);
    setText(all, stage.every ? `Try all ${stage.orders} orders` : "Try 200 orders");
    setAttribute(all, "title", `${turns} turns, ${stage.orders} orders`);
  }

  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
