// Learning: a curve of losses that grows, and what the layers see, while a training
// runs. Nothing here is clicked; Python changes the traits.

import { drawn, element, follow, keepKeys, setAttribute, setText } from "./shared.js";

const TRAITS = ["chance", "every", "means", "lost", "pictures"];
const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM, FEWEST] = [740, 190, 44, 18, 162, 12];
const PLACES = 4; // for pictures

export function placesOf({ means, chance }) {
  const most = Math.max(1.1 * chance, ...means);
  const height = (loss) => BOTTOM - (BOTTOM - TOP) * loss / most;
  const across = (number) =>
    LEFT + (WIDTH - 20 - LEFT) * (number + 1) / Math.max(means.length, FEWEST);
  return {
    level: height(chance).toFixed(1),
    points: means.map((mean, number) =>
      `${across(number).toFixed(1)},${height(mean).toFixed(1)}`),
  };
}

export function wordsOf({ means, every, chance, lost }) {
  const after = lost ? "Then the loss is no finite number: the rate is too high." : "";
  if (!means.length) {
    return after || "No steps yet: the curve grows while the training runs.";
  }
  return `${means.length * every} steps, loss ${means.at(-1).toFixed(2)}; it began at ${
    means[0].toFixed(2)}, and knowing nothing is ${chance.toFixed(2)}. ${after}`.trim();
}

function curve() {
  const line = drawn("polyline", { class: "ck-curve" });
  const last = drawn("circle", { r: 4, class: "ck-last" });
  const level = drawn("path", { class: "ck-level" });
  const name = drawn("text", { x: WIDTH - 12, "text-anchor": "end" }, "knowing nothing");
  const svg = drawn("svg", { role: "img", viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
    drawn("path", { d: `M${LEFT},${TOP}V${BOTTOM}H${WIDTH - 10}`, class: "ck-axes" }),
    drawn("text", { x: LEFT - 6, y: BOTTOM, "text-anchor": "end" }, "0"),
    drawn("text", { x: LEFT - 6, y: TOP + 4, "text-anchor": "end" }, "loss"),
    drawn("text", { x: WIDTH - 12, y: HEIGHT - 8, "text-anchor": "end" }, "steps"),
    level, name, line, last);
  const set = (state) => {
    const { level: y, points } = placesOf(state);
    setAttribute(level, "d", `M${LEFT},${y}H${WIDTH - 10}`);
    setAttribute(name, "y", Number(y) - 5);
    setAttribute(line, "points", points.join(" "));
    const [x, height] = (points.at(-1) ?? "-9,-9").split(",");
    setAttribute(last, "cx", x);
    setAttribute(last, "cy", height);
    setAttribute(svg, "aria-label", `Loss by steps: ${
      state.means.map((mean) => mean.toFixed(2)).join(", ") || "none yet"}`);
  };
  return { svg, set };
}

function gallery() {
  const places = Array.from({ length: PLACES }, () => {
    const [image, name] = [element("img", { alt: "" }), element("figcaption")];
    return { image, name, node: element("figure", {}, name, image) };
  });
  const node = element("div", { class: "ck-seen" }, ...places.map((one) => one.node));
  const set = (pictures) => places.forEach(({ image, name, node: figure }, number) => {
    const picture = pictures[number];
    figure.hidden = !picture;
    if (!picture) return;
    setText(name, picture.name);
    setAttribute(image, "alt", picture.alt);
    setAttribute(image, "src", picture.src);
  });
  return { node, set };
}

function render({ model, el }) {
  const picture = curve();
  const told = element("p", { role: "status" });
  const seen = gallery();

  function update() {
    const state = Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
    picture.set(state);
    setText(told, wordsOf(state));
    seen.set(state.pictures);
  }

  el.classList.add("ck-widget", "ck-learning");
  el.append(element("p", {}, element("strong", {}, "Learning")), picture.svg, told,
    seen.node);
  const release = keepKeys(el);
  const unfollow = follow(model, TRAITS, update);
  return () => { release(); unfollow(); };
}

export default { render };
