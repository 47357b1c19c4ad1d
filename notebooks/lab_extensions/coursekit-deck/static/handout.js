// A handout: the pages of a notebook in a file, without Jupyter and without a network.
import { Bar } from "./bar.js";
import { listen } from "./keys.js";
import { Paged, pictures } from "./paged.js";

class Handout extends Paged {
  constructor(node, box, cells) {
    super(node, box, cells);
    this.bar = new Bar(this);
    listen(this);
    this.followSize();
  }

  turned() {
    this.bar.update();
  }
}

// `described` has type, metadata and source of each cell, in the order of the page.
export async function showHandout(described) {
  const node = document.querySelector(".ck-deck");
  const box = node.querySelector(".jp-Notebook");
  const nodes = [...box.querySelectorAll(".jp-Cell")];
  await pictures(node);
  const cells = described.map((cell, number) => ({ ...cell, node: nodes[number] }));
  node.deck = new Handout(node, box, cells);
  node.deck.lay(0);
}
