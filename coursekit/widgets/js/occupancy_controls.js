// What a block needs, as sliders: for the occupancy and for the residency.

import { element, setAttribute, slider, write } from "./shared.js";

export const PANELS = {
  registers: { title: "registers per thread", most: "max_registers_per_thread", unit: 1 },
  shared_bytes: { title: "shared KiB per block", most: "shared_bytes_per_block_optin",
    unit: 1024 },
  threads: { title: "threads per block", most: "max_threads_per_block", unit: 1 },
};
export const NEEDS = ["registers", "shared_bytes", "threads", "barriers", "max_threads"];

export function controls(model) {
  const change = (name) => (value) => write(model, { [name]: value });
  const sliders = {
    registers: slider("registers per thread", 1, 255, change("registers")),
    shared_bytes: slider("shared bytes per block", 0, 0, change("shared_bytes")),
    threads: slider("threads per block", 1, 1024, change("threads")),
  };
  setAttribute(sliders.shared_bytes.input, "step", 128);
  const names = Object.keys(model.get("devices"));
  const select = element("select", {}, ...names.map((value) =>
    element("option", { value }, value)));
  select.addEventListener("change", () => write(model, { device: select.value }));
  const node = element("div", { class: "ck-controls" },
    element("label", { class: "ck-slider" }, "GPU ", select),
    ...Object.values(sliders).map((one) => one.node));
  return { node, sliders, select };
}
