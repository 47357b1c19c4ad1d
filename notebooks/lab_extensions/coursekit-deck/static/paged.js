// A notebook of which one page at a time is shown; its cells stay where they are.
import { pack } from "./pages.js";
import { scaleOf, setZoom, TEXT } from "./sizes.js";
import { slidesOf } from "./slides.js";

const GAP = 12; // px between two parts, on a page of 1280 x 720
const WRAPPERS = {
  text: ".jp-Cell-inputWrapper",
  input: ".jp-Cell-inputWrapper",
  output: ".jp-Cell-outputWrapper",
};

const hasOutput = ({ cell }) => cell.node.querySelector(".jp-OutputArea-child") !== null;

export class Paged {
  // `node` is what fills the screen, `box` in it holds the cells: each has node, type,
  // metadata and source.
  constructor(node, box, cells) {
    this.node = node;
    this.box = box;
    this.slides = slidesOf(cells);
    this.slide = 0; // which slide, and which of its pages
    this.page = 0;
    this.pages = [];
  }

  get current() {
    return this.slides[this.slide];
  }

  get place() {
    return { slide: this.slide + 1, slides: this.slides.length, page: this.page + 1,
             pages: this.pages.length };
  }

  // Put the slide's parts on pages, and show one: a number, -1 for the last.
  lay(page) {
    this.clear();
    const scale = scaleOf(window.innerWidth, window.innerHeight);
    this.node.style.setProperty("--ck-text", `${scale * TEXT}px`);
    this.node.style.setProperty("--ck-scale", String(scale));
    this.node.style.setProperty("--ck-gap", `${scale * GAP}px`);
    const parts = this.current.parts.filter((part) => !(part.folded && hasOutput(part)))
      .map((part) => this.shown(part, scale));
    const laid = parts.filter(({ element }) => element);
    this.pages = pack(laid, this.room(), scale * GAP);
    if (this.pages.length === 0) this.pages = [[]];
    this.show(page < 0 ? this.pages.length - 1 : Math.min(page, this.pages.length - 1));
  }

  room() {
    const style = getComputedStyle(this.box);
    const padding = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    return this.box.clientHeight - padding;
  }

  shown(part, scale) {
    const { node } = part.cell;
    const element = node.querySelector(WRAPPERS[part.part]);
    node.classList.add("ck-on");
    element?.classList.add("ck-shown");
    return { ...part, element, scale };
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
    this.box.scrollTop = 0;
    this.turned();
  }

  // Called when another page is shown.
  turned() {}

  next() {
    if (this.page + 1 < this.pages.length) this.show(this.page + 1);
    else if (this.slide + 1 < this.slides.length) this.goTo(this.slide + 1, 0);
  }

  previous() {
    if (this.page > 0) this.show(this.page - 1);
    else if (this.slide > 0) this.goTo(this.slide - 1, -1);
  }

  first() {
    this.goTo(0, 0);
  }

  last() {
    this.goTo(this.slides.length - 1, -1);
  }

  goTo(slide, page) {
    this.slide = Math.min(Math.max(slide, 0), this.slides.length - 1);
    this.lay(page);
  }

  fillScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }

  // Lay the slide out anew when the window changes; return what ends that.
  followSize() {
    const follow = () => this.lay(this.page);
    window.addEventListener("resize", follow);
    return () => window.removeEventListener("resize", follow);
  }
}

// Wait for the pictures, whose size decides what fits; one that is missing is no error.
export function pictures(node) {
  const all = [...node.querySelectorAll("img")];
  return Promise.all(all.map((picture) => picture.decode().catch(() => {})));
}
