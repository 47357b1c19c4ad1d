// The picture of the tile animator: nodes made once, changed in place.

import { drawn, setAttribute, setText, show } from "./shared.js";
import {
  bringsOf, broughtBy, colsOf, momentOf, rowsOf, runsOf,
} from "./tile_rules.js";

const [WIDTH, TOP, LEFT, RIGHT, GAP] = [760, 30, 12, 380, 10];
const [ALL, TILE, SLIM, WARPS] = [318, 350, 56, 32];

function setBox(node, x, y, width, height) {
  show(node, width > 0 && height > 0);
  const box = { x, y, width, height };
  for (const name of Object.keys(box)) setAttribute(node, name, box[name].toFixed(1));
}

// Rectangles (row, column, rows, columns) of a matrix as one path.
function pathOf([x, y], [across, down], places) {
  return places.map(([row, col, high, wide]) =>
    `M${(x + col * across).toFixed(1)} ${(y + row * down).toFixed(1)}`
    + `h${(wide * across).toFixed(1)}v${(high * down).toFixed(1)}`
    + `h${(-wide * across).toFixed(1)}z`).join("");
}

const boxes = (names, kinds) => Object.fromEntries(names.map((name, n) =>
  [name, drawn("rect", { class: `ck-box ${kinds[n] || "ck-plain"}` })]));

function matrices() {
  const boxed = boxes(["A", "B", "C", "bandA", "bandB", "flyA", "flyB", "nowA", "nowB",
    "block"], ["", "", "", "ck-band", "ck-band", "ck-flying", "ck-flying", "ck-now",
    "ck-now", "ck-band ck-chosen"]);
  const lines = drawn("path", { class: "ck-lines" });
  const names = ["A", "B", "C"].map((name) => drawn("text", {}, name));
  const { block, ...rest } = boxed;
  const node = drawn("g", {}, ...Object.values(rest), lines, block, ...names);
  const set = (cut, { block: number, step }) => {
    const { M, N, K, rows, cols, depth } = cut;
    const s = (ALL - GAP) / (K + Math.max(M, N));
    const [x, y] = [LEFT + K * s + GAP, TOP + K * s + GAP];
    const [down, along] = [Math.floor(number / cut.grid[1]), number % cut.grid[1]];
    const [top, left] = [y + down * rows * s, x + along * cols * s];
    const high = Math.min(rows, M - down * rows) * s;
    const wide = Math.min(cols, N - along * cols) * s;
    setBox(boxed.A, LEFT, y, K * s, M * s);
    setBox(boxed.B, x, TOP, N * s, K * s);
    setBox(boxed.C, x, y, N * s, M * s);
    setBox(boxed.bandA, LEFT, top, K * s, high);
    setBox(boxed.bandB, left, TOP, wide, K * s);
    setBox(boxed.block, left, top, wide, high);
    const turn = momentOf(cut, step)[0];
    [["now", turn], ["fly", turn + 1]].forEach(([name, one]) => {
      const there = one < broughtBy(cut, step);
      const deep = there ? Math.min(depth, K - one * depth) * s : 0;
      setBox(boxed[`${name}A`], LEFT + one * depth * s, top, deep, high);
      setBox(boxed[`${name}B`], left, TOP + one * depth * s, wide, deep);
    });
    let path = "";
    for (let r = rows; r < M; r += rows) path += `M${x} ${y + r * s}h${N * s}`;
    for (let c = cols; c < N; c += cols) path += `M${x + c * s} ${y}v${M * s}`;
    setAttribute(lines, "d", path);
    [[LEFT + 2, y - 3], [x - 10, TOP + 10], [x + 4, y + 14]].forEach(([a, b], n) => {
      setAttribute(names[n], "x", a);
      setAttribute(names[n], "y", b);
    });
  };
  return { node, set };
}

function tiles() {
  const warps = Array.from({ length: WARPS }, (_, warp) => ({
    box: drawn("rect", { class: `ck-box ck-block${warp % 6}` }),
    name: drawn("text", { class: "ck-small" }, `warp ${warp}`) }));
  const boxed = boxes(["A", "B", "sliceA", "sliceB"], ["", "", "ck-now", "ck-now"]);
  const paths = Object.fromEntries(["a", "b", "c"].map((name) =>
    [name, drawn("path", {})]));
  const node = drawn("g", {}, ...warps.flatMap((one) => [one.box, one.name]),
    ...Object.values(boxed), ...Object.values(paths));
  const set = (cut, { thread, step }) => {
    const { rows, cols, depth } = cut;
    const side = Math.max(rows, cols);
    const deep = Math.max(SLIM, (TILE - GAP) * depth / (depth + side));
    const [s, t] = [(TILE - GAP - deep) / side, deep / depth];
    const [x, y] = [RIGHT + deep + GAP, TOP + deep + GAP];
    const [width, height] = [cut.width * s, cut.height * s];
    warps.forEach(({ box, name }, warp) => {
      const there = warp < cut.threads / 32;
      const left = x + warp % cut.beside * width;
      const top = y + Math.floor(warp / cut.beside) * height;
      setBox(box, left, top, there ? width : 0, height);
      setAttribute(name, "x", left + 3);
      setAttribute(name, "y", top + 12);
      show(name, there && width > 40 && height > 16);
    });
    setBox(boxed.A, RIGHT, y, deep, rows * s);
    setBox(boxed.B, x, TOP, cols * s, deep);
    const k = momentOf(cut, step)[1];
    setBox(boxed.sliceA, RIGHT + k * t, y, k === null ? 0 : t, rows * s);
    setBox(boxed.sliceB, x, TOP + k * t, cols * s, k === null ? 0 : t);
    const [down, along] = [runsOf(rowsOf(cut, thread)), runsOf(colsOf(cut, thread))];
    const places = k === null
      ? [true, false].map((isA) => bringsOf(cut, thread, isA).map(([r, c]) =>
        [r, c, 1, cut.copied]))
      : [down.map(([r, n]) => [r, k, n, 1]), along.map(([c, n]) => [k, c, 1, n])];
    const kind = k === null ? "ck-brings" : "ck-owned";
    setAttribute(paths.a, "d", pathOf([RIGHT, y], [t, s], places[0]));
    setAttribute(paths.b, "d", pathOf([x, TOP], [s, t], places[1]));
    setAttribute(paths.a, "class", kind);
    setAttribute(paths.b, "class", kind);
    setAttribute(paths.c, "class", "ck-owned");
    setAttribute(paths.c, "d", pathOf([x, y], [s, s], down.flatMap(([r, high]) =>
      along.map(([c, wide]) => [r, c, high, wide]))));
  };
  return { node, set };
}

export function tilePicture() {
  const [left, right] = [matrices(), tiles()];
  const [one, other] = [LEFT, RIGHT].map((x) =>
    drawn("text", { x, y: 20, class: "ck-heading" }));
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${TOP + TILE + GAP}` },
    one, other, left.node, right.node);
  const set = (cut, state, words) => {
    left.set(cut, state);
    right.set(cut, state);
    setText(one, `A, B and C; block ${state.block}`);
    setText(other, `Its tiles; thread ${state.thread}`);
    setAttribute(svg, "aria-label", `${words.told} ${words.owner}`);
  };
  return { svg, set };
}
