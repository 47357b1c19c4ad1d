// A matrix product in tiles: coursekit/lessons/tiling once more, and its sentences.

const LANES = 32;
export const PIECES = ["in one piece", "columns in pieces", "rows and columns in pieces"];
export const ORDERS = ["row by row", "in pairs"];
export const LAYOUTS = ["by rows", "by rows, swizzled", "by columns",
  "by columns, padded"];
export const BUFFERS = ["one", "two, filled ahead"];

const over = (a, b) => Math.floor(a / b);
const add = (values) => values.reduce((all, one) => all + one, 0);
const range = (count) => Array.from({ length: count }, (_, i) => i);
const widest = (count) => [4, 2, 1].find((width) => count % width === 0);

// A number with four decimals at most, or six below 1, as Python writes it.
function digits(number) {
  const places = number < 1 ? 6 : 4;
  const scaled = Math.floor(number * 10 ** places + 0.5);
  const rest = String(scaled % 10 ** places).padStart(places, "0").replace(/0+$/, "");
  const whole = over(scaled, 10 ** places).toLocaleString("en-US");
  return rest ? `${whole}.${rest}` : whole;
}

const counted = (count, word) => `${digits(count)} ${word}${count === 1 ? "" : "s"}`;

export function runsOf(numbers) {
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && number === last[0] + last[1]) last[1] += 1;
    else found.push([number, 1]);
  }
  return found;
}

const spansOf = (numbers) => runsOf(numbers).map(([first, count]) =>
  (count === 1 ? `${first}` : `${first}-${first + count - 1}`)).join(", ");

const namedOf = (word, numbers) =>
  `${word}${numbers.length === 1 ? "" : "s"} ${spansOf(numbers)}`;

// Most different words that one of 32 banks is asked for.
function bankTurns(words) {
  const banks = new Map();
  for (const word of new Set(words)) {
    banks.set(word % LANES, (banks.get(word % LANES) ?? 0) + 1);
  }
  return Math.max(...banks.values());
}

// Wavefronts of a load, and how many are above the fewest, from each lane's word.
function wavefrontsOf(words, width) {
  const paired = width > 1 && [1, 2].some((step) =>
    words.every((word, lane) => word === words[lane ^ step]));
  const group = Math.min(LANES, (LANES / width) * (paired ? 2 : 1));
  const used = range(LANES / group).map((part) => bankTurns(
    words.slice(part * group, (part + 1) * group).flatMap((word) =>
      range(width).map((i) => word + i))));
  return [add(used), add(used) - used.length];
}

function strewn(start, place, lanes, count, piece) {
  return range(count).map((i) =>
    start + over(i, piece) * lanes * piece + place * piece + i % piece);
}

export function tilingOf(state) {
  const { M, N, K, rows, cols, depth, down, patch_rows, patch_cols } = state;
  const across = LANES / down;
  const [height, width] = [down * patch_rows, across * patch_cols];
  const [high, beside] = [over(rows, height), over(cols, width)];
  const byRows = LAYOUTS.indexOf(state.a_tile) < 2;
  const pad = state.a_tile === LAYOUTS[3] ? 4 : 0;
  const ahead = state.buffers === BUFFERS[1];
  const cut = { ...state, across, height, width, beside, byRows, ahead,
    threads: LANES * high * beside,
    grid: [Math.ceil(M / rows), Math.ceil(N / cols)],
    turns: Math.ceil(K / depth),
    shared: 4 * ((rows + cols) * depth + pad * depth) * (ahead ? 2 : 1),
    aWidth: byRows ? 4 : widest(patch_rows),
    bWidth: widest(patch_cols) };
  cut.steps = ahead ? 1 + cut.turns * depth : cut.turns * (1 + depth);
  cut.values = M * K * cut.grid[1] + K * N * cut.grid[0];
  cut.fmas = cut.grid[0] * rows * cut.grid[1] * cols * cut.turns * depth;
  cut.problem = problemOf(cut);
  return cut;
}

function problemOf(cut) {
  const whole = `A tile of ${cut.rows} x ${cut.cols}`;
  if (cut.rows % cut.height || cut.cols % cut.width) {
    return `${whole} cannot be cut into warps of ${cut.height} x ${cut.width}.`;
  }
  if (cut.threads > 1024) {
    return `${whole} would need ${cut.threads} threads; a block has 1024.`;
  }
  if (cut.shared > 227 * 1024) {
    return `The tiles would need ${cut.shared} bytes of shared memory; a block of an `
      + `H200 has ${227 * 1024}.`;
  }
  return "";
}

const cornerOf = (cut, warp) =>
  [over(warp, cut.beside) * cut.height, warp % cut.beside * cut.width];

function placeOf(cut, lane) {
  if (cut.order === ORDERS[0] || cut.across === 1) {
    return [over(lane, cut.across), lane % cut.across];
  }
  return [over(lane, 2) % cut.down, lane % 2 + over(lane, 2 * cut.down) * 2];
}

export function rowsOf(cut, thread) {
  const wide = cut.byRows ? 1 : cut.aWidth;
  return strewn(cornerOf(cut, over(thread, LANES))[0], placeOf(cut, thread % LANES)[0],
    cut.down, cut.patch_rows, cut.pieces === PIECES[2] ? wide : cut.patch_rows);
}

export function colsOf(cut, thread) {
  return strewn(cornerOf(cut, over(thread, LANES))[1], placeOf(cut, thread % LANES)[1],
    cut.across, cut.patch_cols, cut.pieces === PIECES[0] ? cut.patch_cols : cut.bWidth);
}

// First place, [row, column] of the tile, of each access by which a thread copies.
export function bringsOf(cut, thread, isA) {
  const wide = (isA ? cut.depth : cut.cols) / cut.copied;
  const all = (isA ? cut.rows : cut.depth) * wide;
  const found = [];
  for (let i = thread; i < all; i += cut.threads) {
    found.push([over(i, wide), i % wide * cut.copied]);
  }
  return found;
}

function wordOfA(cut, row) {
  if (!cut.byRows) return row;
  const quads = cut.depth / 4;
  const quad = cut.a_tile === LAYOUTS[1] ? over(row * quads, 8) % quads : 0;
  return row * cut.depth + 4 * quad;
}

// Reads, wavefronts and conflicts of a warp for 32 FMAs: of A, and of B.
function costsOf(cut) {
  const patch = cut.patch_rows * cut.patch_cols;
  const each = [[rowsOf, cut.patch_rows, cut.byRows ? 1 : cut.aWidth, cut.aWidth,
    (row) => wordOfA(cut, row), cut.byRows ? 4 : 1],
  [colsOf, cut.patch_cols, cut.bWidth, cut.bWidth, (col) => col, 1]];
  return each.map(([owned, count, step, width, word, steps]) => {
    const lanes = range(LANES).map((lane) => owned(cut, lane));
    const used = range(count / step).map((i) =>
      wavefrontsOf(lanes.map((places) => word(places[i * step])), width));
    return [used.length, add(used.map((one) => one[0])), add(used.map((one) => one[1]))]
      .map((sum) => sum / steps / patch);
  });
}

export function momentOf(cut, step) {
  const pair = (n, by) => [over(n, by), n % by];
  if (cut.ahead) return step === 0 ? [0, null] : pair(step - 1, cut.depth);
  const [turn, k] = pair(step, 1 + cut.depth);
  return [turn, k === 0 ? null : k - 1];
}

export function broughtBy(cut, step) {
  const [turn, k] = momentOf(cut, step);
  return turn + 1 + (cut.ahead && k !== null && turn + 1 < cut.turns ? 1 : 0);
}

function tableOf(cut) {
  const patch = cut.patch_rows * cut.patch_cols;
  const [a, b] = costsOf(cut);
  return [
    ["A", counted(cut.grid[1], "time"),
      counted(over(cut.cols, cut.patch_cols), "thread"), ...a.map(digits)],
    ["B", counted(cut.grid[0], "time"),
      counted(over(cut.rows, cut.patch_rows), "thread"), ...b.map(digits)],
    ["both", `${digits(cut.values / cut.fmas)} an FMA`,
      `${digits((cut.patch_rows + cut.patch_cols) / patch)} an FMA`,
      ...a.map((one, n) => digits(one + b[n]))],
  ];
}

function costOf(cut) {
  const { M, N, K } = cut;
  const intensity = 2 * M * N * K / (4 * (cut.values + M * N));
  const text = `${digits(intensity)} FLOP a byte of global memory. Reads, wavefronts `
    + "and conflicts are those of a warp for 32 FMAs, one of each lane.";
  if (cut.fmas === M * N * K) return text;
  return `${text} ${digits(cut.fmas - M * N * K)} FMAs are with zeros, past an edge.`;
}

function copiesOf(cut, name, places) {
  if (!places.length) return `nothing of ${name}`;
  const [row, col] = places[0];
  return `${counted(cut.copied * places.length, "value")} of ${name}, from [${row}][${
    col}] of its tile on`;
}

function toldOf(cut, thread, step) {
  const [turn, k] = momentOf(cut, step);
  const where = `Tile ${turn + 1} of ${cut.turns}`;
  const span = (one) => `k = ${one * cut.depth}-${(one + 1) * cut.depth - 1}`;
  if (k === null) {
    return `${where}: ${span(turn)} is brought. Thread ${thread} copies ${
      copiesOf(cut, "A", bringsOf(cut, thread, true))} and ${
      copiesOf(cut, "B", bringsOf(cut, thread, false))}, then waits for all.`;
  }
  let text = `${where}, k = ${turn * cut.depth + k}: thread ${thread} takes ${
    counted(cut.patch_rows, "value")} of A and ${cut.patch_cols} of B, for ${
    counted(cut.patch_rows * cut.patch_cols, "FMA")}.`;
  if (broughtBy(cut, step) > turn + 1) {
    text += ` ${span(turn + 1)} is on its way into the other buffer.`;
  }
  if (k === cut.depth - 1 && turn + 1 < cut.turns) {
    text += " Then all threads wait for each other.";
  }
  return text;
}

function soFarOf(cut, block, step) {
  const rows = Math.min(cut.rows, cut.M - over(block, cut.grid[1]) * cut.rows);
  const cols = Math.min(cut.cols, cut.N - block % cut.grid[1] * cut.cols);
  const [turn, k] = momentOf(cut, step);
  const values = Math.min(broughtBy(cut, step) * cut.depth, cut.K) * (rows + cols);
  const done = turn * cut.depth + (k === null ? 0 : k + 1);
  const fmas = Math.min(done, cut.K) * rows * cols;
  return `Block ${block} so far: ${counted(values, "value")} from global memory, ${
    counted(fmas, "FMA")}, which are ${digits(fmas / values)} a value.`;
}

export function wordsOf(state) {
  const cut = tilingOf(state);
  if (cut.problem) return { problem: cut.problem };
  const { block, thread, step } = state;
  const warps = cut.threads / LANES;
  return {
    problem: "",
    summary: `${counted(cut.grid[0] * cut.grid[1], "block")} of ${
      counted(cut.threads, "thread")}: a block computes ${cut.rows} x ${cut.cols} of C, `
      + `each of its ${counted(warps, "warp")} ${cut.height} x ${cut.width}, a thread ${
        cut.patch_rows} x ${cut.patch_cols}. ${
        digits(cut.shared)} bytes of shared memory per block.`,
    table: tableOf(cut),
    cost: costOf(cut),
    told: toldOf(cut, thread, step),
    so_far: soFarOf(cut, block, step),
    owner: `Thread ${thread} is lane ${thread % LANES} of warp ${over(thread, LANES)}. `
      + `Of its block's tile it owns ${namedOf("row", rowsOf(cut, thread))} and ${
        namedOf("column", colsOf(cut, thread))}.`,
  };
}
