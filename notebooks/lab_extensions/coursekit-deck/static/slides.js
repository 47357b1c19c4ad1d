// What a deck shows of a notebook: the slides, and of each slide the parts.
//
// A slide begins at the first cell, at a section and at a "subslide". Left out are cells
// of type "skip" and "notes", claims and hidden solutions; the cell of an exercise is
// always there, however long. A part is what stays together on a page: a text, the
// source of a cell, or its outputs.

const LEFT_OUT = new Set(["claim", "solution-hidden"]);

export const kindOf = (metadata) => metadata.slideshow?.slide_type ?? "";

export function isShown(metadata) {
  const tags = metadata.tags ?? [];
  const kind = kindOf(metadata);
  if (kind === "notes" || tags.some((tag) => LEFT_OUT.has(tag))) return false;
  return kind !== "skip" || tags.some((tag) => tag.startsWith("exercise-"));
}

// Return the parts of a cell: {cell, part}, where part is "text", "input" or "output".
//
// A folded input, as that of a question, is shown only until the cell has been run.
export function partsOf(cell) {
  if (!isShown(cell.metadata)) return [];
  if (cell.type !== "code") return [{ cell, part: "text" }];
  const folded = cell.metadata.jupyter?.source_hidden ?? false;
  return [{ cell, part: "input", folded }, { cell, part: "output" }];
}

// Return the slides of a notebook: {head, section, cells, parts}.
//
// `cells` have type, metadata and source; the notes of a slide are those of its cells.
export function slidesOf(cells) {
  const slides = [];
  let section = null;
  cells.forEach((cell, number) => {
    const kind = kindOf(cell.metadata);
    if (number === 0 || ["slide", "subslide"].includes(kind)) {
      if (number === 0 || kind === "slide") section = cell;
      slides.push({ head: cell, section, cells: [], parts: [] });
    }
    const slide = slides[slides.length - 1];
    slide.cells.push(cell);
    slide.parts.push(...partsOf(cell));
  });
  return slides.filter((slide) => slide.parts.some((part) => part.part !== "output"));
}

// The heading of a cell, without its marks.
export function titleOf(cell) {
  const line = cell.source.split("\n").find((text) => text.startsWith("#")) ?? "";
  return line.replace(/^#+\s*/, "").replace(/[*`]/g, "");
}
