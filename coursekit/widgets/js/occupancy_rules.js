// coursekit/analysis/occupancy once more, word for word: rules, limits, advice. A test compares.

const UNLIMITED = 2 ** 30;
const LIMIT_NAMES = {
  SM: "block slots", registers: "registers", shared: "shared memory",
  warps: "warp slots", barriers: "barriers",
};
const grouped = (number) => number.toLocaleString("en-US");
const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
const roundedUp = (number, unit) => Math.ceil(number / unit) * unit;

// Two digits, ties to even, as Python rounds; only eighths end in a 5 exactly.
function twoDigits(number) {
  const low = Math.floor(number * 100);
  const tie = Number.isInteger(number * 8) && number * 100 - low === 0.5;
  return tie && low % 2 === 0 ? (low / 100).toFixed(2) : number.toFixed(2);
}

export const warpsOf = (sm, demand) => Math.ceil(demand.threads / sm.warp_size);
export const registersOfWarp = (sm, demand) =>
  roundedUp(demand.registers * sm.warp_size, sm.register_unit);
export const sharedOfBlock = (sm, demand) => roundedUp(
  demand.shared_bytes + sm.shared_reserved_bytes_per_block, sm.shared_unit_bytes);

function byRegisters(sm, demand) {
  const perWarp = registersOfWarp(sm, demand);
  if (!perWarp) return UNLIMITED;
  const [warps, parts] = [warpsOf(sm, demand), sm.schedulers_per_sm];
  if (perWarp * roundedUp(warps, parts) > sm.registers_per_block
    || demand.registers > sm.max_registers_per_thread) return 0;
  const quarter = Math.floor(sm.registers_per_sm / parts);
  return Math.floor(Math.floor(quarter / perWarp) * parts / warps);
}

function byShared(sm, demand, size) {
  if (demand.shared_bytes > sm.shared_bytes_per_block_optin) return 0;
  const taken = sharedOfBlock(sm, demand);
  return taken ? Math.floor(size / taken) : UNLIMITED;
}

function byWarps(sm, demand) {
  if (demand.threads > Math.min(demand.max_threads, sm.max_threads_per_block)) return 0;
  return Math.floor(sm.max_warps_per_sm / warpsOf(sm, demand));
}

function byBarriers(sm, demand) {
  const [major, minor] = sm.compute_capability;
  if (!demand.barriers || major < 9) return UNLIMITED;
  const twice = minor === 0 && (major === 9 || major === 10);
  return Math.floor((twice ? 2 : 1) * sm.max_blocks_per_sm / demand.barriers);
}

function limitsOf(sm, demand) {
  return {
    SM: sm.max_blocks_per_sm,
    registers: byRegisters(sm, demand),
    shared: byShared(sm, demand, sm.shared_bytes_per_sm),
    warps: byWarps(sm, demand),
    barriers: byBarriers(sm, demand),
  };
}

export const blocksOf = (sm, demand) => Math.min(...Object.values(limitsOf(sm, demand)));

function configurationOf(sm, demand) {
  const wanted = blocksOf(sm, demand) * sharedOfBlock(sm, demand);
  return sm.shared_carveouts_bytes.find((size) => size >= wanted);
}

// ------------------------------------------------------------------------ advice

function mostRegisters(sm, demand, wanted) {
  const start = Math.min(demand.registers, sm.max_registers_per_thread);
  for (let registers = start; registers > 0; registers -= 1) {
    if (byRegisters(sm, { ...demand, registers }) >= wanted) return registers;
  }
  return null;
}

function mostShared(sm, wanted) {
  const unit = sm.shared_unit_bytes;
  const share = Math.floor(Math.floor(sm.shared_bytes_per_sm / wanted) / unit) * unit;
  const left = share - sm.shared_reserved_bytes_per_block;
  return left >= 0 ? left : null;
}

const HOPELESS = {
  SM: "all block slots are taken, so only larger blocks hold more warps",
  warps: "the warps left do not make a block",
  barriers: "the kernel uses too many barriers",
  registers: "even one register per thread is too many",
  shared: "the driver's own shared memory is too much",
};

function gain(sm, demand, wanted) {
  const changes = [];
  for (const [name, most] of Object.entries(limitsOf(sm, demand))) {
    if (most >= wanted) continue;
    const number = name === "registers" ? mostRegisters(sm, demand, wanted)
      : name === "shared" ? mostShared(sm, wanted) : null;
    if (number === null) {
      return `${counted(wanted, "block")} of this size cannot fit: ${HOPELESS[name]}.`;
    }
    changes.push(name === "registers"
      ? `at most ${number} registers per thread (now ${demand.registers})`
      : `at most ${grouped(number)} B of shared memory per block (now ${
        grouped(demand.shared_bytes)})`);
  }
  const warps = wanted * warpsOf(sm, demand);
  return `${counted(wanted, "block")} ${wanted === 1 ? "fits" : "fit"} with ${
    changes.join(" and ")}: ${warps} of ${sm.max_warps_per_sm} warps, ${
    twoDigits(100 * warps / sm.max_warps_per_sm)} %.`;
}

function otherBlock(sm, demand, now) {
  let [best, bestWarps] = [0, now];
  for (let threads = 32; threads <= sm.max_threads_per_block; threads += 32) {
    const other = { ...demand, threads };
    const held = blocksOf(sm, other) * warpsOf(sm, other);
    if (held > bestWarps) [best, bestWarps] = [threads, held];
  }
  if (!best) return "";
  const alike = demand.shared_bytes ? ", if its shared memory stays the same" : "";
  return `A block of ${best} threads would hold ${bestWarps} of ${
    sm.max_warps_per_sm} warps${alike}.`;
}

function adviceOf(sm, demand) {
  const found = blocksOf(sm, demand);
  const held = found * warpsOf(sm, demand);
  if (held === sm.max_warps_per_sm) {
    return [`All ${held} warps are taken: more cannot be had.`];
  }
  return [gain(sm, demand, found + 1), otherBlock(sm, demand, held)].filter(Boolean);
}

// ------------------------------------------------------------------------- words

function sharedText(sm, demand, limits, largest, blocks) {
  const reserve = sm.shared_reserved_bytes_per_block;
  let text = `${grouped(sharedOfBlock(sm, demand))} B per block`
    + (reserve ? `, ${grouped(reserve)} of them the driver's` : "");
  if (!blocks) return text;
  text += `; a configuration of ${grouped(configurationOf(sm, demand))} B suffices`;
  if (largest === limits.shared || largest === UNLIMITED) return text;
  return `${text}; the largest, ${grouped(sm.shared_bytes_per_sm)}, holds ${largest}`;
}

function rowsOf(sm, demand, limits, largest, blocks) {
  const warps = warpsOf(sm, demand);
  const why = {
    SM: `an SM has ${sm.max_blocks_per_sm} block slots`,
    registers: `${demand.registers} per thread, ${
      grouped(registersOfWarp(sm, demand) * warps)} per block, ${
      grouped(sm.registers_per_sm)} per SM`,
    shared: sharedText(sm, demand, limits, largest, blocks),
    warps: `${counted(warps, "warp")} per block, ${sm.max_warps_per_sm} per SM`,
    barriers: `${demand.barriers} per block`,
  };
  return Object.entries(limits)
    .filter(([name, most]) => name !== "barriers" || most < UNLIMITED)
    .map(([name, most]) => [LIMIT_NAMES[name], most, why[name]]);
}

function summaryOf(sm, demand, bound, blocks, grid) {
  if (!blocks) return "No block fits an SM: this launch is refused.";
  const held = blocks * warpsOf(sm, demand);
  const text = `${counted(blocks, "block")} per SM, limited by ${
    bound.map((name) => LIMIT_NAMES[name]).join(" and ")}: ${held} of ${
    sm.max_warps_per_sm} warps, ${twoDigits(100 * held / sm.max_warps_per_sm)} %.`;
  if (!grid) return text;
  return `${text} A grid of ${grouped(grid)} on ${sm.sm_count} SMs takes ${
    twoDigits(grid / (blocks * sm.sm_count))} waves.`;
}

export const shownLimit = (most) => (most === UNLIMITED ? "no limit" : grouped(most));

export function occupancyOf(sm, demand, grid) {
  const largest = limitsOf(sm, demand);
  const blocks = Math.min(...Object.values(largest));
  const size = configurationOf(sm, demand);
  const limits = { ...largest, shared: byShared(sm, demand, size) };
  const bound = Object.keys(largest).filter((name) => largest[name] === blocks);
  return {
    blocks,
    warps: blocks * warpsOf(sm, demand),
    bound: bound.map((name) => LIMIT_NAMES[name]),
    rows: rowsOf(sm, demand, limits, largest.shared, blocks),
    summary: summaryOf(sm, demand, bound, blocks, grid),
    advice: adviceOf(sm, demand),
  };
}
