// What is asked of maskgate beside its peers, and whether a report of `run.mjs` shows it.
import { median } from "./table.mjs";

const STRICT = "maskgate strict";
const PASSTHROUGH = "maskgate passthrough";
const OBSERVE = "maskgate observe";

/** One row of a report in one round; undefined where it was not measured or failed. */
function rowOf(rows, round, cell, peer) {
  return rows.find(
    (row) =>
      row.round === round && row.cell === cell && row.peer === peer && row.error === undefined,
  );
}

/** How much `peer` carries, as a multiple of what `other` carries in the same round. */
const rate =
  (cell, peer, other, otherCell = cell) =>
  (rows, round) =>
    rowOf(rows, round, cell, peer)?.rate / rowOf(rows, round, otherCell, other)?.rate;

/** How much latency `peer` adds (p50), as a multiple of what `other` adds in the same round. */
const added = (cell, peer, other) => (rows, round) => {
  const direct = rowOf(rows, round, cell, "direct")?.p50;
  return (
    (rowOf(rows, round, cell, peer)?.p50 - direct) / (rowOf(rows, round, cell, other)?.p50 - direct)
  );
};

const atLeast = (least, cell, peer, other) => ({
  says: `${peer}, ${cell}, of ${other}`,
  least,
  measure: rate(cell, peer, other),
});
const atMost = (most, cell, peer, other) => ({
  says: `${peer}, ${cell}, added p50, of ${other}'s`,
  most,
  measure: added(cell, peer, other),
});
const asScored = (cell) => ({
  says: `${STRICT}, ${cell}-masked, of ${cell}`,
  least: 1,
  measure: rate(`${cell}-masked`, STRICT, STRICT, cell),
});

const TARGETS = [
  atLeast(1.15, "2k", STRICT, "Go ReverseProxy"),
  atLeast(3, "64k", STRICT, "nginx + Lua"),
  atLeast(0.3, "64k", STRICT, "nginx"),
  atLeast(4, "1m", STRICT, "nginx + Lua"),
  atLeast(3, "16m", STRICT, "nginx + Lua"),
  ...["2k", "64k", "1m"].map((cell) => asScored(cell)),
  atLeast(1.1, "2k", PASSTHROUGH, "http-proxy-3"),
  ...["64k", "1m", "16m"].map((cell) => atLeast(1, cell, PASSTHROUGH, "http-proxy-3")),
  ...["2k", "64k", "1m", "16m"].map((cell) => atLeast(0.9, cell, OBSERVE, PASSTHROUGH)),
  atMost(1.4, "2k-alone", STRICT, "nginx"),
  atMost(2, "64k-alone", STRICT, "nginx"),
];

/** A table in Markdown: each target, the median over the rounds of what was measured, and whether it is met. */
export function targetsOf({ rows, settings }) {
  const rounds = Array.from({ length: settings.rounds }, (_, round) => round);
  const lines = TARGETS.map(({ says, least, most, measure }) => {
    const all = rounds.map((round) => measure(rows, round)).filter(Number.isFinite);
    const asked = least === undefined ? `≤ ${most}` : `≥ ${least}`;
    const found = median(all);
    if (found === undefined) return `| ${says} | ${asked} | | not measured |`;
    const met = least === undefined ? found <= most : found >= least;
    const spread =
      all.length > 1 ? ` (${Math.min(...all).toFixed(2)}–${Math.max(...all).toFixed(2)})` : "";
    return `| ${says} | ${asked} | ${found.toFixed(2)}${spread} | ${met ? "met" : "missed"} |`;
  });
  return [
    "### Targets: ratios within a round, medians over the rounds",
    "",
    "| what | asked | measured | |",
    "|---|--:|--:|---|",
    ...lines,
    "",
    "Memory and event-loop delay: `npm run bench:memory`. Thousands in flight: `npm run bench:many`.",
  ].join("\n");
}
