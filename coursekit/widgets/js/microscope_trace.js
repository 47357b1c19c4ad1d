// A trace as the microscope's page has it: what each lane holds, reaches, and asks for.

import { plural } from "./shared.js";

export const LANES = 32;

export const bits = (text) => parseInt(text, 16) >>> 0;
export const has = (mask, lane) => ((mask >>> lane) & 1) === 1;
export const lanesOf = (mask) => Array.from({ length: LANES }, (_, n) => n)
  .filter((lane) => has(mask, lane));

// The value that a lane holds, of what Python packed for the lanes in a mask.
export function unpack(packed, mask, lane) {
  if (!has(mask, lane)) return null;
  if (!Array.isArray(packed)) return packed;
  if (packed[0] === "step") return packed[1] + lane * packed[2];
  return packed[lanesOf(mask).indexOf(lane)] ?? null;
}

export function written(packed, mask, lane) {
  if (packed === null) return "left out";
  if (Array.isArray(packed) && packed[0] === "at") {
    const bytes = unpack(packed[2], mask, lane);
    return bytes === null ? "-" : `${packed[1]} + ${bytes} B`;
  }
  const value = unpack(packed, mask, lane);
  return value === null ? "-" : String(value);
}

export function allLanes(packed, mask) {
  if (packed === null) return "left out, to keep the page small";
  const texts = lanesOf(mask).map((lane) => written(packed, mask, lane));
  if (!texts.length) return "no lane writes it";
  if (texts.every((text) => text === texts[0])) return `${texts[0]} in every lane`;
  return texts.length > 6
    ? [...texts.slice(0, 4), "...", texts.at(-1)].join(", ") : texts.join(", ");
}

export function load(text) {
  const trace = JSON.parse(text);
  trace.count = trace.lines.length;
  trace.mask = (step) => bits(trace.masks[trace.maskOf[step]].split("/")[0]);
  trace.live = (step) => bits(trace.masks[trace.maskOf[step]].split("/")[1]);
  trace.last = trace.first + trace.code.length - 1;
  trace.at = Object.fromEntries(Object.entries(trace.accesses).map(([step, found]) =>
    [step, found.map((one) => place({ ...one, ...trace.kinds[one.kind],
      counts: trace.counts[one.counts], how: (one.how ?? []).map(([mask, form, values, bytes]) =>
        ({ mask: bits(mask), form: trace.forms[form], values, bytes })) }))]));
  return trace;
}

// Addresses of one access, lane by lane, and what they fall into.
function place(access) {
  const mask = bits(access.mask);
  const offsets = Array.from({ length: LANES }, (_, n) => unpack(access.at, mask, n));
  const shared = access.space === "shared";
  const sectors = offsets.map((at) =>
    at === null || access.space !== "global" ? null : Math.floor(at / 32));
  const banks = offsets.map((at) => at === null || !shared ? null
    : (((Math.floor(at / 4) + (access.bank ?? 0)) % 32) + 32) % 32);
  return { ...access, lanes: mask, offsets, sectors, banks, shared };
}

function elementName(access, lane) {
  const number = Math.floor(access.offsets[lane] / access.item);
  if (!access.shape || number < 0 || access.outside?.includes(lane)) {
    return `${access.array || "memory"}[${number}]`;
  }
  let rest = number;
  const index = [...access.shape].reverse().map((extent) => {
    const here = rest % extent;
    rest = Math.floor(rest / extent);
    return here;
  });
  return `${access.array}[${index.reverse().join(", ")}]`;
}

// How the chosen lane came to its element: names, then numbers, then where it is.
export function arithmetic(access, lane) {
  if (access.offsets[lane] === null) return [];
  const how = access.how.find(({ mask }) => has(mask, lane));
  const lines = [];
  if (how) {
    const text = (fill) => {
      let leaf = -1;
      return how.form.map((part) => typeof part === "string" ? part
        : fill(part[0], how.values[leaf += 1])).join("");
    };
    const whole = (index) => how.bytes ? `byte ${index} of ${access.array}`
      : `${access.array}[${index}]`;
    lines.push(whole(text((name) => name)));
    const numbers = whole(text((_, packed) => unpack(packed, how.mask, lane)));
    if (lines[0] !== numbers) lines.push(`= ${numbers}`);
  }
  const start = lines.length ? "= " : "";
  const where = access.shared ? `bank ${access.banks[lane]}`
    : access.space === "global" ? `sector ${access.sectors[lane]} of ${access.array}`
      : `${access.space} memory`;
  const out = access.outside?.includes(lane) ? ", outside the array" : "";
  lines.push(`${start}${elementName(access, lane)}: byte ${access.offsets[lane]}, `
    + `${where}${out}`);
  return lines;
}

function amountOf(access) {
  const found = Object.entries(access.counts).find(([name]) =>
    name.endsWith(access.shared ? "_wavefronts" : "_sectors"));
  if (found) return found[1];
  if (access.shared) return null;
  return new Set(access.sectors.filter((one) => one !== null)).size || null;
}

function idealOf(access) {
  const bytes = lanesOf(access.lanes).length * access.width;
  const same = new Set(access.offsets.filter((at) => at !== null)).size;
  const needed = Math.min(bytes, same * access.width);
  return Math.max(1, Math.ceil(needed / (access.shared ? 128 : 32)));
}

export function told(access) {
  const count = lanesOf(access.lanes).length;
  const verb = count === 1 ? access.verb : access.verb.replace(/s$/, "");
  const start = `${plural(count, "lane")} ${verb} ${access.array || access.space}`;
  const amount = amountOf(access);
  if (amount === null) return `${start}.`;
  const what = access.shared ? "wavefront" : "sector";
  const end = access.shared ? "" : ` of 32 bytes`;
  return `${start}: ${plural(amount, what)}${end}; at best ${idealOf(access)}.`;
}
