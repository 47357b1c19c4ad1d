// What follows from the stage: whose turn it can be, who waits, which accesses race.

export const MOST_ARCS = 24;

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

// The pairs of lines between which an arc is drawn; the latest race is marked.
export function linePairs(stage, races) {
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
