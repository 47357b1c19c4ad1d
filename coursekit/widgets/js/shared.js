// What the widgets share: making nodes once, changing them in place, and keys.
//
// Nodes are made when a widget is drawn and only changed afterwards, so that the one
// in use keeps the focus. Text is set only when it differs: a screen reader would
// read the same words again.

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// Text with `code` between backticks.
export function setRich(node, text) {
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...text.split("`").map((part, i) =>
    i % 2 ? element("code", {}, part) : part));
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function show(node, visible) {
  if (visible) node.removeAttribute("display");
  else node.setAttribute("display", "none");
}

// JupyterLab takes plain keys for its own shortcuts: arrows would move to another
// cell. Keys that run, leave or save stay JupyterLab's; Escape goes back to the cell,
// where arrows move on.
export function keepKeys(el) {
  const keep = (event) => {
    const chord = event.ctrlKey || event.metaKey || event.altKey;
    const runs = event.key === "Enter" && (chord || event.shiftKey);
    if (runs) event.preventDefault(); // it would send the form
    if (event.key === "Escape") el.closest(".jp-Cell")?.focus();
    else if (!runs && !chord) event.stopPropagation();
  };
  el.addEventListener("keydown", keep);
  return () => el.removeEventListener("keydown", keep);
}

// Calls `update` now and after each change; returns what ends that.
export function follow(model, names, update) {
  names.forEach((name) => model.on(`change:${name}`, update));
  update();
  return () => names.forEach((name) => model.off(`change:${name}`, update));
}

export function write(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

export const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export function button(text, act) {
  const node = element("button", { type: "button" }, text);
  node.addEventListener("click", act);
  return node;
}

// A source line from its parts, [kind, text] each.
export function codeLine(parts) {
  return element("code", { class: "ck-code" }, ...parts.map(([kind, text]) =>
    kind === "plain" ? text : element("span", { class: `ck-t-${kind}` }, text)));
}

// A labelled slider. `set` changes what it shows.
export function slider(label, least, most, changed) {
  const input = element("input", { type: "range", min: least, max: most, step: 1 });
  const value = element("span", { class: "ck-value", "aria-hidden": "true" });
  const node = element("label", { class: "ck-slider" },
    element("span", { class: "ck-name" }, label), input, value);
  input.addEventListener("input", () => changed(Number(input.value)));
  const set = (number, text = String(number), largest = most) => {
    setAttribute(input, "max", largest);
    if (input.value !== String(number)) input.value = number;
    setAttribute(input, "aria-valuetext", text);
    setText(value, String(number));
  };
  return { node, input, set };
}
