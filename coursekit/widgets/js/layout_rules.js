// Layouts: shape:stride as text, and the offset of each element.
//
// These are coursekit/lessons/layouts once more, as far as the explorer needs them.

// Nested numbers of a text such as "(2,(2,4))"; null where it is something else.
function nested(text) {
  if (!/^[\d(),]+$/.test(text)) return null;
  try {
    return JSON.parse(text.replaceAll("(", "[").replaceAll(")", "]"));
  } catch {
    return null;
  }
}

const flat = (value) => (Array.isArray(value) ? value.flatMap(flat) : [value]);
const product = (value) => flat(value).reduce((all, one) => all * one, 1);

function congruent(left, right) {
  if (!Array.isArray(left) || !Array.isArray(right)) {
    return !Array.isArray(left) && !Array.isArray(right);
  }
  return left.length === right.length
    && left.every((one, number) => congruent(one, right[number]));
}

// The extents and strides of a text, with rows and columns; null where it is none.
export function layoutOf(text) {
  const written = text.replaceAll(" ", "").split(":").map(nested);
  const [shape, stride] = written;
  if (written.length !== 2 || written.includes(null)) return null;
  if (!congruent(shape, stride)) return null;
  const extents = flat(shape);
  if (!extents.length || extents.some((one) => one < 1)) return null;
  const rows = Array.isArray(shape) && shape.length > 1 ? product(shape[0]) : 1;
  return { extents, strides: flat(stride), rows, cols: product(shape) / rows };
}

export function positionsOf({ extents }, number) {
  const found = [];
  for (const extent of extents) {
    found.push(number % extent);
    number = Math.floor(number / extent);
  }
  return found;
}

export function plainOffset(layout, number) {
  return positionsOf(layout, number).reduce((sum, position, mode) =>
    sum + position * layout.strides[mode], 0);
}

export function offsetOf(layout, { bits, base, shift }, number) {
  const offset = plainOffset(layout, number);
  if (!bits) return offset;
  return offset ^ ((offset >> shift) & (((1 << bits) - 1) << base));
}
