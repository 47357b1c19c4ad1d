// A notebook shown as a deck, in JupyterLab itself: cells stay where they are and alive,
// those of the page are shown, the others are not.
import { Answers, idsOf } from "./answers.js";
import { Bar } from "./bar.js";
import { listen } from "./keys.js";
import { Notes } from "./notes.js";
import { pack, scaleOf, setZoom, TEXT } from "./pages.js";
import { slidesOf } from "./slides.js";

const GAP = 12; // px between two parts, on a page of 1280 x 720
const WRAPPERS = {
  text: ".jp-Cell-inputWrapper",
  input: ".jp-Cell-inputWrapper",
  output: ".jp-Cell-outputWrapper",
};

// A cell of the notebook as slides.js reads it, and its widget.
function cellOf(widget) {
  const { model } = widget;
  return {
    widget,
    type: model.type,
    metadata: model.metadata,
    source: model.sharedModel.getSource(),
  };
}

export class Deck {
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.node = panel.node;
    this.notebook = panel.content;
    this.slide = 0; // which slide, and which of its pages
    this.page = 0;
    this.pages = [];
  }

  async start() {
    this.config = this.notebook.notebookConfig;
    this.notebook.notebookConfig = { ...this.config, windowingMode: "none" };
    await Promise.all(this.notebook.widgets.map((cell) => cell.ready));
    await this.pictures();
    this.slides = slidesOf(this.notebook.widgets.map(cellOf));
    this.openNode();
    this.answers = new Answers(this);
    this.notes = new Notes(this);
    this.bar = new Bar(this);
    this.ends = [listen(this), this.followSize(), this.followOutputs()];
    this.slide = this.slideOf(this.notebook.activeCell);
    await settled();
    this.lay(0);
  }

  // Wait for the pictures, whose size decides what fits; one that is missing is no error.
  pictures() {
    const all = [...this.node.querySelectorAll("img")];
    return Promise.all(all.map((picture) => picture.decode().catch(() => {})));
  }

  // In the top layer, above all of JupyterLab, whatever surrounds the panel there.
  openNode() {
    this.node.classList.add("ck-deck");
    this.node.deck = this;
    this.node.popover = "manual";
    this.node.showPopover();
    this.node.tabIndex = -1;
    this.node.focus();
  }

  end() {
    for (const stop of this.ends) stop();
    this.bar.node.remove();
    this.answers.hide();
    this.notes.close();
    this.clear();
    this.node.hidePopover();
    this.node.removeAttribute("popover");
    delete this.node.deck;
    this.node.classList.remove("ck-deck");
    this.notebook.notebookConfig = this.config;
    const [part] = this.current.parts;
    this.returnTo(this.notebook.widgets.indexOf(part.cell.widget));
  }

  // Back among the panels of JupyterLab, with a cell of the slide in view.
  async returnTo(index) {
    this.panel.hide(); // and show: JupyterLab then measures the panel anew
    this.panel.show();
    await settled();
    this.notebook.activeCellIndex = index;
    this.notebook.scrollToItem(index, "start");
    this.notebook.node.focus();
  }

  get current() {
    return this.slides[this.slide];
  }

  // The number of the page of all, as far as the pages are known, and the slides.
  get place() {
    return { slide: this.slide + 1, slides: this.slides.length, page: this.page + 1,
             pages: this.pages.length };
  }

  slideOf(widget) {
    const holds = (slide) => slide.cells.some((cell) => cell.widget === widget);
    return Math.max(this.slides.findIndex(holds), 0);
  }

  // Put the slide's parts on pages, and show one: a number, -1 for the last.
  lay(page) {
    this.clear();
    const scale = scaleOf(window.innerWidth, window.innerHeight);
    this.node.style.setProperty("--ck-text", `${scale * TEXT}px`);
    this.node.style.setProperty("--ck-scale", String(scale));
    this.node.style.setProperty("--ck-gap", `${scale * GAP}px`);
    const parts = this.current.parts.map((part) => this.shown(part, scale));
    this.pages = pack(parts, this.room(), scale * GAP);
    for (const part of parts) this.hide(part);
    if (this.pages.length === 0) this.pages = [[]];
    this.show(page < 0 ? this.pages.length - 1 : Math.min(page, this.pages.length - 1));
  }

  room() {
    const style = getComputedStyle(this.notebook.node);
    const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    return this.notebook.node.clientHeight - padding;
  }

  shown(part, scale) {
    const { node } = part.cell.widget;
    const element = node.querySelector(WRAPPERS[part.part]);
    node.classList.add("ck-on");
    element.classList.add("ck-shown");
    return { ...part, element, scale };
  }

  hide({ element, cell }) {
    element.classList.remove("ck-shown");
    cell.widget.node.classList.remove("ck-on");
  }

  clear() {
    for (const element of this.node.querySelectorAll(".ck-shown, .ck-window")) {
      element.classList.remove("ck-shown", "ck-window");
      element.style.height = "";
      setZoom(element, 1);
    }
    for (const cell of this.node.querySelectorAll(".ck-on")) cell.classList.remove("ck-on");
  }

  show(page) {
    this.clear();
    this.page = page;
    for (const part of this.pages[page]) {
      const { element } = this.shown(part, part.scale);
      setZoom(element, part.zoom);
      if (part.height === undefined) continue;
      element.classList.add("ck-window");
      element.style.height = `${part.height}px`;
      element.scrollTop = part.offset;
    }
    this.notebook.node.scrollTop = 0;
    this.answers.hide();
    this.bar.update();
    this.notes.update();
  }

  next() {
    if (this.page + 1 < this.pages.length) this.show(this.page + 1);
    else if (this.slide + 1 < this.slides.length) this.goTo(this.slide + 1, 0);
  }

  previous() {
    if (this.page > 0) this.show(this.page - 1);
    else if (this.slide > 0) this.goTo(this.slide - 1, -1);
  }

  goTo(slide, page) {
    this.slide = Math.min(Math.max(slide, 0), this.slides.length - 1);
    this.lay(page);
  }

  // Run the cell that has the focus, or else the first of the page that is code.
  async run() {
    const focused = this.current.parts.find(
      ({ cell }) => cell.widget.node.contains(document.activeElement));
    const code = this.pages[this.page].find(({ cell }) => cell.type === "code");
    const part = focused ?? code;
    if (!part || part.cell.type !== "code") return;
    this.notebook.activeCellIndex = this.notebook.widgets.indexOf(part.cell.widget);
    await this.app.commands.execute("notebook:run-cell");
    await settled();
    this.lay(this.page);
    const shows = (page) => page.some((other) =>
      other.cell.widget === part.cell.widget && other.part === "output");
    const output = this.pages.findIndex(shows);
    if (output > this.page) this.show(output);
  }

  followSize() {
    const follow = () => this.lay(this.page);
    window.addEventListener("resize", follow);
    return () => window.removeEventListener("resize", follow);
  }

  // New outputs may need other pages: lay the slide out anew when they have settled.
  followOutputs() {
    let timer = 0;
    const observer = new MutationObserver((changes) => {
      const outside = (change) => !this.bar.node.contains(change.target);
      const added = changes.filter(outside).some(({ target }) =>
        target.nodeType === 1 && target.closest(".ck-on")
        && target.matches(".jp-OutputArea, .jp-OutputArea-child"));
      if (!added) return;
      clearTimeout(timer);
      timer = setTimeout(() => this.lay(this.page), 200);
    });
    observer.observe(this.notebook.node, { childList: true, subtree: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }

  // Show the answers of the page's questions and pieces of code, or hide them again.
  answer() {
    this.answers.toggle(idsOf(this.current.cells));
  }
}

// Two frames: what was attached has been laid out.
const settled = () => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)));
