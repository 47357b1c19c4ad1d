// Questions to the notebook's kernel, beside its cells.

const PRESENTING = "coursekit.exercises.presenting";

// Run a function of coursekit.exercises.presenting; return what it returns, a text.
//
// It throws an Error with the kernel's own words where that fails.
export async function told(panel, name, ids) {
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) throw new Error("The notebook has no kernel. Start one, and ask again.");
  const call = `__import__("${PRESENTING}", fromlist=["_"]).${name}`;
  const code = `print(${call}(*${JSON.stringify(ids)}))`;
  const printed = [];
  let failure = "";
  const future = kernel.requestExecute({ code, store_history: false });
  future.onIOPub = ({ header, content }) => {
    if (header.msg_type === "stream" && content.name === "stdout") printed.push(content.text);
    if (header.msg_type === "error") failure = `${content.ename}: ${content.evalue}`;
  };
  await future.done;
  if (failure) throw new Error(failure);
  return printed.join("");
}
