// The plugin: a command, a button in each notebook's toolbar, ?present in the address,
// and the colours of CUDA C++.
import { colourCuda } from "./cuda.js";
import { present } from "./deck.js";

const COMMAND = "coursekit:present";
const LABEL = "Present as slides";

// Return the plugin. `lab` hands out JupyterLab's own packages.
export async function plugin(lab) {
  const { INotebookTracker } = await lab("@jupyterlab/notebook");
  const { ICommandPalette, ToolbarButton } = await lab("@jupyterlab/apputils");
  return {
    id: "coursekit-deck:plugin",
    description: "Presents a notebook as a deck.",
    autoStart: true,
    requires: [INotebookTracker],
    optional: [ICommandPalette],
    activate(app, tracker, palette) {
      addStyle();
      const shown = () => tracker.currentWidget && open(app, tracker.currentWidget);
      app.commands.addCommand(COMMAND, {
        label: LABEL,
        isEnabled: () => tracker.currentWidget !== null,
        execute: shown,
      });
      palette?.addItem({ command: COMMAND, category: "Notebook Operations" });
      const welcome = (panel) => {
        addButton(app, panel, ToolbarButton);
        colourCuda(panel);
      };
      tracker.forEach(welcome);
      tracker.widgetAdded.connect((_, panel) => welcome(panel));
      if (new URLSearchParams(window.location.search).has("present"))
        presentFirst(app, tracker);
    },
  };
}

function addStyle() {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL("deck.css", import.meta.url).href;
  document.head.append(link);
}

function addButton(app, panel, ToolbarButton) {
  const button = new ToolbarButton({
    label: "Present",
    tooltip: LABEL,
    onClick: () => open(app, panel),
  });
  panel.toolbar.insertItem(10, "coursekit-present", button);
}

// Present the notebook that the address names, as soon as it is there.
function presentFirst(app, tracker) {
  let done = false;
  const start = (panel) => {
    if (done || !panel) return;
    done = true;
    open(app, panel);
  };
  app.restored.then(() => start(tracker.currentWidget));
  tracker.currentChanged.connect((_, panel) => start(panel));
}

async function open(app, panel) {
  await panel.context.ready;
  await panel.revealed;
  await panel.context.sessionContext.ready;
  if (!panel.node.classList.contains("ck-deck")) await present(app, panel);
}
