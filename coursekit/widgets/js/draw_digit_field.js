// The field to draw in: a pen for mouse, finger and keys. It knows nothing of networks.

import { drawn, element, setAttribute, setText } from "./shared.js";

const STEP = 0.05; // of the field, for a key
const NEAR = 0.008; // points that are nearer to the last one are left out
const WAYS = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  Home: [-1, -1], PageUp: [1, -1], End: [-1, 1], PageDown: [1, 1],
};
const HELP = "Draw with the mouse or a finger. By keyboard: arrows move the pen, Home, "
  + "Page Up, End and Page Down move it aslant, Space puts it down and lifts it, "
  + "Backspace takes the last stroke back.";

const within = (value) => Math.round(1000 * Math.min(1, Math.max(0, value))) / 1000;

export function pathOf(strokes) {
  return strokes.map((stroke) => "M" + [...stroke, stroke.at(-1)].map(([x, y]) =>
    `${(100 * x).toFixed(1)},${(100 * y).toFixed(1)}`).join("L")).join("");
}

export function toldOf([x, y], down) {
  const place = (value) => Math.round(value / STEP);
  return `Pen ${down ? "down" : "lifted"}, ${place(x)} across and ${place(y)} down of 20.`;
}

// `finished(stroke)` hears each whole stroke, `undo()` that the last is not wanted.
export function drawingField(finished, undo) {
  const ink = drawn("path", { class: "ck-ink" });
  const pen = drawn("circle", { class: "ck-pen", r: 3 });
  const svg = drawn("svg", {
    class: "ck-field", role: "application", tabindex: 0, viewBox: "0 0 100 100",
  }, ink, pen);
  const told = element("p", { role: "status", class: "ck-help" });
  const help = element("p", { class: "ck-help" }, HELP);
  let [strokes, stroke, place, down] = [[], null, [0.5, 0.5], false];

  function update() {
    setAttribute(ink, "d", pathOf(stroke ? [...strokes, stroke] : strokes));
    setAttribute(pen, "cx", 100 * place[0]);
    setAttribute(pen, "cy", 100 * place[1]);
    pen.classList.toggle("ck-down", down);
  }

  function lift() {
    const whole = stroke;
    [stroke, down] = [null, false];
    if (whole) finished(whole);
    update();
  }

  function follow(event) {
    const box = svg.getBoundingClientRect();
    const point = [within((event.clientX - box.left) / box.width),
      within((event.clientY - box.top) / box.height)];
    const last = stroke.at(-1);
    if (!last || Math.hypot(point[0] - last[0], point[1] - last[1]) > NEAR) {
      stroke.push(point);
    }
    place = point;
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.isPrimary) return;
    lift(); // what the keyboard had begun
    svg.classList.remove("ck-keys");
    svg.setPointerCapture(event.pointerId);
    stroke = [];
    follow(event);
    update();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!stroke || down || !event.isPrimary) return;
    const all = event.getCoalescedEvents?.() ?? [];
    (all.length ? all : [event]).forEach(follow);
    update();
  });
  ["pointerup", "pointercancel"].forEach((name) => svg.addEventListener(name, (event) => {
    if (stroke && !down && event.isPrimary) lift();
  }));

  function press(key) {
    if (key in WAYS) {
      place = WAYS[key].map((way, axis) => within(place[axis] + STEP * way));
      if (down) stroke.push(place);
    } else if (key === "Backspace") {
      if (stroke) [stroke, down] = [null, false];
      else undo();
    } else if (down) {
      lift();
    } else {
      [stroke, down] = [[place], true];
    }
    update();
    setText(told, toldOf(place, down));
  }

  svg.addEventListener("keydown", (event) => {
    const chord = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (chord || !(event.key in WAYS || ["Backspace", " "].includes(event.key))) return;
    event.preventDefault(); // it would scroll the page
    svg.classList.add("ck-keys");
    press(event.key);
  });
  svg.addEventListener("blur", () => { if (down) lift(); });

  const set = (now, words) => {
    strokes = now;
    setAttribute(svg, "aria-label", `${words} ${HELP}`);
    update();
  };
  return { svg, told, help, set };
}
