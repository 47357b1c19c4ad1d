// Be the Scheduler: warps as cards, races as arcs between lines, barriers to place.
//
// What a warp does next, who waits at a barrier and which accesses race follows from
// the stage that the notebook sent. Whether the result is right, only it can tell.

import {
  button, element, follow, keepKeys, plural, setAttribute, setText, write,
} from "./shared.js";
import { cardsOf, linePairs, racesSeen, toldRace } from "./scheduler_rules.js";
import { arcsBeside, dragging, listed, sourceOf } from "./scheduler_source.js";

const TRIES = 3;
const TRAITS = ["stage", "played", "barriers", "verdict", "outcome", "best", "players"];

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
    cards[0].node.focus(); // the button in use is hidden from here on
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
