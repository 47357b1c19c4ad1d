// Answers behind a key: the kernel tells them when the presenter asks.
import { told } from "./kernel.js";

const ASKED = /\bck\.(?:guess|quiz|check)\(\s*["'](\d\d\.\w+)["']|--exercise (\d\d\.\w+)/g;

// The names of the questions and pieces of code in cells, each once.
export function idsOf(cells) {
  const found = cells.flatMap(({ source }) =>
    [...source.matchAll(ASKED)].map((match) => match[1] ?? match[2]));
  return [...new Set(found)];
}

export class Answers {
  constructor(deck) {
    this.deck = deck;
    this.node = document.createElement("section");
    this.node.className = "ck-deck-answers";
    this.node.setAttribute("role", "dialog");
    this.node.setAttribute("aria-label", "Answers");
    this.node.tabIndex = 0;
  }

  get isShown() {
    return this.node.isConnected;
  }

  hide() {
    this.node.remove();
  }

  // Show the answers of a slide, or hide what is shown.
  async toggle(ids) {
    if (this.isShown) return this.hide();
    const text = document.createElement("pre");
    this.node.replaceChildren(text);
    this.deck.node.append(this.node);
    if (ids.length === 0) {
      text.textContent = "Nothing is asked on this slide.";
      return;
    }
    text.textContent = "Asking the notebook's kernel ...";
    try {
      text.textContent = await told(this.deck.panel, "answers", ids);
    } catch (error) {
      text.textContent = error.message;
    }
  }
}
