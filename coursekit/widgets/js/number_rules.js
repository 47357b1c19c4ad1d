// Number formats once more, as coursekit/lessons/formats.py has them: values of
// patterns, rounding, spacing. All numbers of the formats are exact in JavaScript.

const biasOf = (format) => 2 ** (format.exponent - 1) - 1;

export function largestOf(format) {
  if (format.specials === "Inf and NaN") {
    return (2 ** format.exponent - 1) * 2 ** format.mantissa - 1;
  }
  return 2 ** (format.width - 1) - (format.specials === "NaN" ? 2 : 1);
}

// Sign, exponent and mantissa of a pattern, as stored.
export function fieldsOf(format, bits) {
  const half = 2 ** (format.width - 1);
  const magnitude = bits % half;
  const step = 2 ** format.mantissa;
  return { sign: bits >= half ? 1 : 0, exponent: Math.floor(magnitude / step),
    mantissa: magnitude % step, magnitude };
}

export function valueOf(format, bits) {
  if (format.specials === "integer") {
    return bits >= 2 ** (format.width - 1) ? bits - 2 ** format.width : bits;
  }
  const { sign, exponent, mantissa, magnitude } = fieldsOf(format, bits);
  if (magnitude > largestOf(format)) {
    if (format.specials !== "Inf and NaN" || mantissa) return NaN;
    return sign ? -Infinity : Infinity;
  }
  const hidden = exponent ? 2 ** format.mantissa : 0;
  const power = Math.max(exponent, 1) - biasOf(format) - format.mantissa;
  return (sign ? -1 : 1) * (hidden + mantissa) * 2 ** power;
}

export function kindOf(format, bits) {
  const value = valueOf(format, bits);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return "Inf";
  if (value === 0) return "zero";
  if (format.specials === "integer") return "integer";
  return Math.abs(value) < 2 ** (1 - biasOf(format)) ? "subnormal" : "normal";
}

export function spacingOf(format, bits) {
  if (format.specials === "integer") return 1;
  if (!Number.isFinite(valueOf(format, bits))) return NaN;
  const { exponent } = fieldsOf(format, bits);
  return 2 ** (Math.max(exponent, 1) - biasOf(format) - format.mantissa);
}

function whole(scaled, rounding, negative) {
  const low = Math.floor(scaled);
  if (rounding === "zero") return low;
  if (rounding !== "nearest") {
    return (rounding === "down") === negative ? Math.ceil(scaled) : low;
  }
  const rest = scaled - low;
  return rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
}

function powerOf(magnitude) {
  let power = Math.floor(Math.log2(magnitude));
  if (2 ** power > magnitude) power -= 1;
  if (2 ** (power + 1) <= magnitude) power += 1;
  return power;
}

function integerBits(format, value, rounding) {
  if (Number.isNaN(value)) return 0;
  const negative = value < 0;
  const most = 2 ** (format.width - 1) - (negative ? 0 : 1);
  const magnitude = whole(Math.min(Math.abs(value), most), rounding, negative);
  return negative && magnitude ? 2 ** format.width - magnitude : magnitude;
}

// The pattern, without sign, of infinity or NaN, or of what replaces them.
function beyond(format, nan) {
  const largest = largestOf(format);
  if (format.specials === "none" || (format.specials === "NaN" && !nan)) return largest;
  const quiet = nan && format.specials !== "NaN" ? 2 ** (format.mantissa - 1) : 0;
  return largest + 1 + quiet;
}

export function bitsOf(format, value, rounding = "nearest") {
  if (format.specials === "integer") return integerBits(format, value, rounding);
  const negative = value < 0 || Object.is(value, -0);
  const sign = negative ? 2 ** (format.width - 1) : 0;
  if (!Number.isFinite(value)) return sign + beyond(format, Number.isNaN(value));
  const magnitude = Math.abs(value);
  const least = 1 - biasOf(format);
  const power = magnitude ? Math.max(powerOf(magnitude), least) : least;
  const scaled = magnitude * 2 ** (format.mantissa - power);
  const code = (power - least) * 2 ** format.mantissa + whole(scaled, rounding, negative);
  if (code <= largestOf(format)) return sign + code;
  const down = rounding === "zero" || (rounding === "up" && negative)
    || (rounding === "down" && !negative);
  return sign + (down ? largestOf(format) : beyond(format, false));
}
