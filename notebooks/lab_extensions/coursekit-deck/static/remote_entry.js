// What JupyterLab loads of an extension: a container with `init` and `get`.
// It is written by hand, so that nothing has to be built; the rest are ES modules.
(() => {
  const here = document.currentScript.src;
  let shared;

  // A package that JupyterLab itself uses, such as @jupyterlab/notebook.
  async function lab(name) {
    const versions = Object.values(shared[name]);
    const factory = await versions[0].get();
    return factory();
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["coursekit-deck"] = {
    init(scope) {
      shared = scope;
    },
    async get() {
      const { plugin } = await import(new URL("plugin.js", here).href);
      const module = { __esModule: true, default: [await plugin(lab)] };
      return () => module;
    },
  };
})();
