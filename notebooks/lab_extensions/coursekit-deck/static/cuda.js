// Cells of CUDA C++ have its colours: JupyterLab gives those of Python to every cell.

const CPP = "text/x-c++src";

const isCuda = (model) =>
  model.type === "code" && model.sharedModel.getSource().startsWith("%%cuda");

function colour(model) {
  if (isCuda(model) && model.mimeType !== CPP) model.mimeType = CPP;
}

// Colour the cells of a notebook's panel, those that are added, and again whenever
// JupyterLab sets the language of all cells, as it does when a kernel starts.
export async function colourCuda(panel) {
  await panel.context.ready;
  const followed = new WeakSet();
  const follow = (model) => {
    colour(model);
    if (followed.has(model)) return;
    followed.add(model);
    model.mimeTypeChanged?.connect(() => colour(model));
  };
  const all = () => [...panel.content.model.cells].forEach(follow);
  panel.content.model.cells.changed.connect(all);
  all();
}
