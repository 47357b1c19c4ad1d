// The keys of a deck. A text field, an editor and a widget keep theirs.

const OWN = "input, textarea, select, button, summary, a, [contenteditable=true], "
  + "[role=slider], [role=grid], [role=tab], .jp-OutputArea [tabindex]";

const ANYWHERE = {
  PageDown: (deck) => deck.next(),
  PageUp: (deck) => deck.previous(),
};
const ELSEWHERE = {
  ArrowRight: (deck) => deck.next(),
  ArrowLeft: (deck) => deck.previous(),
  " ": (deck) => deck.next(),
  Home: (deck) => deck.goTo(0, 0),
  End: (deck) => deck.goTo(deck.slides.length - 1, -1),
  r: (deck) => deck.run(),
  a: (deck) => deck.answer(),
  n: (deck) => deck.notes.open(),
  f: (deck) => fullScreen(deck),
};

export function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen();
}

// Hear the keys while the deck is open; return what stops it.
export function listen(deck) {
  const hear = (event) => {
    const action = actionOf(deck, event);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    action(deck);
  };
  window.addEventListener("keydown", hear, true);
  return () => window.removeEventListener("keydown", hear, true);
}

function actionOf(deck, event) {
  const { key, target } = event;
  const inDeck = target === document.body || deck.node.contains(target);
  if (!inDeck || event.altKey || event.metaKey) return null;
  const enter = key === "Enter" && (event.shiftKey || event.ctrlKey);
  if (enter) return (shown) => shown.run();
  if (event.ctrlKey) return null;
  if (ANYWHERE[key]) return ANYWHERE[key];
  if (key === "Escape") return leave(deck, target);
  return target.closest?.(OWN) ? null : ELSEWHERE[key];
}

// Escape leaves what is being used first: an editor, the answers, and then the deck.
function leave(deck, target) {
  if (target !== deck.node && target.closest?.(OWN)) return () => deck.node.focus();
  return deck.answers.isShown ? () => deck.answers.hide() : () => deck.end();
}
