// The presenter's notes, in a second window: minutes and a clock, what to say, answers,
// the mistakes to expect, and what comes next.
import { idsOf } from "./answers.js";
import { told } from "./kernel.js";
import { kindOf, titleOf } from "./slides.js";

const STYLE = "font: 20px/1.4 system-ui, sans-serif; margin: 1.2em; color-scheme: light dark;";
const FORWARD = ["ArrowRight", "PageDown", " "], BACK = ["ArrowLeft", "PageUp"];

// What a presenter is to say: the metadata `notes` of cells, and cells of type "notes".
export function notesOf(cells) {
  const said = ({ metadata, source }) =>
    kindOf(metadata) === "notes" ? source : metadata.notes ?? "";
  return cells.map(said).filter(Boolean).map(plain);
}

// Markdown's marks of code, of stress and of links are left out: notes are plain text.
const plain = (text) => text.replace(/`/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
  .replace(/\*+([^\s*](?:[^*]*[^\s*])?)\*+/g, "$1");

export class Notes {
  constructor(deck) {
    this.deck = deck;
    this.window = null;
    this.began = Date.now();
    this.known = new Map(); // what the kernel has told, by id
  }

  open() {
    this.window = window.open("", "coursekit-notes", "width=760,height=640");
    if (!this.window) return; // a browser that forbids it says so itself
    const page = this.window.document;
    page.title = "Presenter's notes";
    page.documentElement.lang = "en";
    page.body.innerHTML = "<main></main>";
    page.body.style.cssText = STYLE;
    this.window.onkeydown = ({ key }) => this.hear(key);
    clearInterval(this.timer);
    this.timer = setInterval(() => this.tick(), 1000);
    this.update();
    this.ask();
  }

  close() {
    clearInterval(this.timer);
    this.window?.close();
  }

  hear(key) {
    if (FORWARD.includes(key)) this.deck.next();
    else if (BACK.includes(key)) this.deck.previous();
  }

  // Answers and mistakes of the whole notebook, asked for once.
  async ask() {
    const ids = this.deck.slides.flatMap((slide) => idsOf(slide.cells));
    if (this.known.size || ids.length === 0) return;
    try {
      const all = JSON.parse(await told(this.deck.panel, "for_notes", ids));
      ids.forEach((id, index) => this.known.set(id, all[index]));
    } catch (error) {
      this.known.set("", { title: error.message, answer: "", mistakes: [] });
    }
    this.update();
  }

  update() {
    const main = this.window?.document?.querySelector("main");
    if (!main) return;
    const { section, head, cells } = this.deck.current;
    const said = notesOf(section === head ? cells : [section, ...cells]);
    const next = this.deck.slides[this.deck.slide + 1];
    main.replaceChildren(
      this.element("h1", titleOf(section) || "Slides"),
      this.element("p", this.minutes(section)),
      this.element("p", "", "clock"),
      ...said.map((text) => this.element("p", text)),
      ...idsOf(cells).flatMap((id) => this.asked(id)),
      this.element("h2", "Next"),
      this.element("p", next ? firstWords(next) : "The end."),
    );
    this.tick();
  }

  // The answer of a question or of a piece of code, and the mistakes to expect.
  asked(id) {
    const note = this.known.get(id) ?? this.known.get("");
    if (!note) return [];
    const list = this.element("ul", "");
    list.append(...note.mistakes.map((mistake) => this.element("li", mistake)));
    const answer = this.element("pre", note.answer);
    answer.style.cssText = "white-space: pre-wrap; font-size: 16px";
    const heading = this.element("h2", note.title);
    const some = note.mistakes.length ? [this.element("p", "Mistakes to expect:"), list] : [];
    return [heading, answer, ...some];
  }

  element(name, text, id = "") {
    const made = this.window.document.createElement(name);
    made.textContent = text;
    if (id) made.id = id;
    if (name === "h1" || name === "h2") made.style.fontSize = "1.1em";
    return made;
  }

  // The minutes of a section, and of those before it.
  minutes(section) {
    const heads = [...new Set(this.deck.slides.map((slide) => slide.section))];
    const sum = (cells) => cells.reduce((all, cell) => all + (cell.metadata.minutes ?? 0), 0);
    const { slide, slides } = this.deck.place;
    return `Slide ${slide} of ${slides}. This section takes a student `
      + `${section.metadata.minutes ?? 0} minutes; it begins at minute `
      + `${sum(heads.slice(0, heads.indexOf(section)))} of ${sum(heads)}.`;
  }

  tick() {
    const clock = this.window?.document?.getElementById("clock");
    if (!clock) return;
    const seconds = Math.floor((Date.now() - this.began) / 1000);
    const rest = String(seconds % 60).padStart(2, "0");
    clock.textContent = `Since the start: ${Math.floor(seconds / 60)}:${rest}`;
  }
}

// What a slide begins with: its heading, its drawing, or the first words of its text.
function firstWords({ cells, head }) {
  const text = cells.find((cell) => cell.type !== "code")?.source ?? head.source;
  const title = titleOf({ source: text });
  if (title) return title;
  const [line] = text.split("\n");
  const drawing = line.match(/^!\[([^\]]*)\]/);
  return drawing ? `A drawing. ${shortened(drawing[1])}` : shortened(plain(line));
}

const shortened = (text) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
