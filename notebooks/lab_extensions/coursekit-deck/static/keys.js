// The keys of a deck, each with the method that it calls, where the deck has it.
// A text field, an editor and a widget keep theirs.

const OWN = "input, textarea, select, button, summary, a, [contenteditable=true], "
  + "[role=slider], [role=grid], [role=tab], .jp-OutputArea [tabindex]";
const ANYWHERE = { PageDown: "next", PageUp: "previous" }; // a presenter's clicker
const ELSEWHERE = {
  ArrowRight: "next",
  ArrowLeft: "previous",
  " ": "next",
  Home: "first",
  End: "last",
  r: "run",
  a: "answer",
  n: "openNotes",
  f: "fillScreen",
};

// Hear the keys while the deck is open; return what stops it.
export function listen(deck) {
  const hear = (event) => {
    const action = actionOf(deck, event);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    action();
  };
  window.addEventListener("keydown", hear, true);
  return () => window.removeEventListener("keydown", hear, true);
}

function actionOf(deck, event) {
  const { key, target } = event;
  const call = (name) => (name && deck[name] ? () => deck[name]() : null);
  const inDeck = target === document.body || deck.node.contains(target);
  if (!inDeck || event.altKey || event.metaKey) return null;
  if (key === "Enter" && (event.shiftKey || event.ctrlKey)) return call("run");
  if (event.ctrlKey) return null;
  if (ANYWHERE[key]) return call(ANYWHERE[key]);
  const own = target !== deck.node && target.closest?.(OWN);
  if (key === "Escape") return own ? () => deck.node.focus() : call("escape");
  return own ? null : call(ELSEWHERE[key]);
}
