// A notebook as a deck in JupyterLab: the cells stay alive, with the kernel behind them.
import { Answers, idsOf } from "./answers.js";
import { Bar } from "./bar.js";
import { listen } from "./keys.js";
import { Notes } from "./notes.js";
import { Paged, pictures } from "./paged.js";

// Two frames: what was attached has been laid out.
const settled = () => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)));

// Put all cells into the page. JupyterLab does so when it is idle, and no more once the
// windowing mode is "none": those that were still to come would never be ready.
function cells(notebook) {
  notebook.widgets.forEach((cell, index) => {
    if (!cell.isPlaceholder()) return;
    cell.dataset.windowedListIndex = String(index);
    notebook.layout.insertWidget(index, cell);
  });
  return Promise.all(notebook.widgets.map((cell) => cell.ready));
}

// Wait until the texts are there, whose heights decide what fits: they are rendered
// after their cells are ready, and a busy machine takes its time. One that has only link
// definitions stays empty, so that this ends after ten seconds in any case.
async function texts(widgets) {
  const isEmpty = ({ model, node }) => model.type === "markdown"
    && model.sharedModel.getSource().replace(/<!--[^]*?-->/g, "").trim() !== ""
    && !node.querySelector(".jp-RenderedMarkdown")?.childElementCount;
  const shown = widgets.filter(({ rendered }) => rendered !== false);
  const end = performance.now() + 10_000;
  while (performance.now() < end
      && shown.some((cell) => !cell.isDisposed && isEmpty(cell))) await settled();
}

// A cell of the notebook as slides.js reads it, and its widget.
function cellOf(widget) {
  const { model, node } = widget;
  const source = model.sharedModel.getSource();
  return { widget, node, type: model.type, metadata: model.metadata, source };
}

// Present the notebook of a panel; return the deck once its first page is there.
export async function present(app, panel) {
  const config = panel.content.notebookConfig;
  panel.content.notebookConfig = { ...config, windowingMode: "none" };
  await cells(panel.content);
  await texts(panel.content.widgets);
  await pictures(panel.node);
  const deck = new Deck(app, panel, config);
  await settled();
  deck.start();
  return deck;
}

class Deck extends Paged {
  constructor(app, panel, config) {
    super(panel.node, panel.content.node, panel.content.widgets.map(cellOf));
    this.app = app;
    this.panel = panel;
    this.notebook = panel.content;
    this.config = config;
    this.ran = null; // the cell that was run last, until the page is turned
    this.openNode();
    this.answers = new Answers(this);
    this.notes = new Notes(this);
    this.bar = new Bar(this);
    this.ends = [];
    this.slide = this.slideOf(this.notebook.activeCell);
  }

  // Show the first page, once the cells have their heights, and follow keys and changes.
  start() {
    this.lay(0);
    this.ends = [listen(this), this.followSize(), this.followOutputs()];
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

  leave() {
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

  slideOf(widget) {
    const holds = (slide) => slide.cells.some((cell) => cell.widget === widget);
    return Math.max(this.slides.findIndex(holds), 0);
  }

  turned() {
    this.answers.hide();
    this.bar.update();
    this.notes.update();
  }

  // Run the cell whose editor has the focus, else the page's next after that which ran.
  async run() {
    const cells = new Set(this.pages[this.page].map(({ cell }) => cell));
    const codes = [...cells].filter(({ type }) => type === "code");
    const editor = document.activeElement?.closest(".jp-InputArea-editor");
    const focused = editor && codes.find(({ node }) => node.contains(editor));
    const cell = focused ?? codes[codes.indexOf(this.ran) + 1] ?? codes[0];
    if (!cell) return;
    this.notebook.activeCellIndex = this.notebook.widgets.indexOf(cell.widget);
    await this.app.commands.execute("notebook:run-cell");
    this.ran = cell;
    await settled();
    this.layAgain();
  }

  // Lay the slide out anew for new outputs; those of the cell that ran come into view.
  layAgain() {
    this.lay(this.page);
    const isRan = ({ cell, part }) => cell === this.ran && part === "output";
    const page = this.pages.findIndex((parts) => parts.some(isRan));
    if (page >= 0 && page !== this.page) this.show(page);
  }

  next() {
    this.ran = null;
    super.next();
  }

  previous() {
    this.ran = null;
    super.previous();
  }

  goTo(slide, page) {
    this.ran = null;
    super.goTo(slide, page);
  }

  // New outputs may need other pages: lay the slide out anew when they have settled.
  followOutputs() {
    let timer = 0;
    const observer = new MutationObserver((changes) => {
      const added = changes.some(({ target }) => target.nodeType === 1
        && target.closest(".ck-on")
        && target.matches(".jp-OutputArea, .jp-OutputArea-child"));
      if (!added) return;
      clearTimeout(timer);
      timer = setTimeout(() => this.layAgain(), 200);
    });
    observer.observe(this.box, { childList: true, subtree: true });
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }

  // Show the answers of the page's questions and pieces of code, or hide them again.
  answer() {
    this.answers.toggle(idsOf(this.current.cells));
  }

  openNotes() {
    this.notes.open();
  }

  // Escape hides the answers first, and then leaves.
  escape() {
    if (this.answers.isShown) this.answers.hide();
    else this.leave();
  }
}
