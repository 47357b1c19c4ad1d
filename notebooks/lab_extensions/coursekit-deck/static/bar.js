// The line below a page: where it stands in the notebook, and buttons.
import { titleOf } from "./slides.js";

// What a button does, its text, its key, and the method of the deck, where it has it.
const BUTTONS = [
  ["Previous page", "◀", "←", "previous"],
  ["Next page", "▶", "→", "next"],
  ["Run the cell", "Run", "r", "run"],
  ["Show or hide the answers", "Answers", "a", "answer"],
  ["Open the presenter's notes", "Notes", "n", "openNotes"],
  ["Fill the screen", "Full screen", "f", "fillScreen"],
  ["Leave the slides", "Leave", "Esc", "leave"],
];

export class Bar {
  constructor(deck) {
    this.deck = deck;
    this.node = document.createElement("nav");
    this.node.className = "ck-deck-bar";
    this.node.setAttribute("aria-label", "Slides");
    this.where = document.createElement("span");
    this.where.setAttribute("role", "status");
    const there = BUTTONS.filter(([, , , method]) => deck[method]);
    this.node.append(this.where, ...there.map((button) => this.button(...button)));
    deck.node.append(this.node);
  }

  button(title, text, key, method) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.title = `${title} (${key})`;
    button.setAttribute("aria-label", title);
    button.addEventListener("click", () => {
      this.deck[method]();
      if (this.node.isConnected) this.deck.node.focus();
    });
    return button;
  }

  update() {
    const { slide, slides, page, pages } = this.deck.place;
    const part = pages > 1 ? `, page ${page} of ${pages}` : "";
    const title = titleOf(this.deck.current.section);
    this.where.textContent = `${title} · slide ${slide} of ${slides}${part}`;
  }
}
