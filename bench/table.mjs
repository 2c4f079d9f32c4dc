/** The median of those that are numbers; undefined where there is none. */
export const median = (numbers) => {
  const sorted = numbers
    .filter((n) => n !== undefined && Number.isFinite(n))
    .toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return undefined;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const shown = (number, digits = 2) => {
  if (number === undefined) return "";
  if (number >= 100) return Math.round(number).toLocaleString("en-US");
  return number.toFixed(number >= 10 ? 1 : digits);
};

/**
 * The tables of a report in Markdown, one for each cell. Ratios are those of the same round, medians over the rounds; `CPU` is what the proxy's
 * process was on its core for one answer, which a busy machine changes least.
 */
export function tableOf({ cells, peers, rows, machine, noise, settings, commit, time }) {
  const sections = cells.map((cell) => sectionOf(cell, peers, rows));
  const skipped = peers.filter((peer) => peer.skipped !== undefined);
  return [
    `${time}, commit ${commit}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}${machine.pinned ? ", pinned" : ", not pinned"}; ${settings.rounds} rounds of ${settings.seconds} s; load average ${noise.loadBefore.toFixed(1)} before, ${noise.loadAfter.toFixed(1)} after (the bench itself makes about 2).`,
    ...sections,
    ...skipped.map(({ name, skipped: why }) => `${name}: left out: ${why}.`),
  ].join("\n\n");
}

function sectionOf(cell, peers, rows) {
  const mine = rows.filter((row) => row.cell === cell.id);
  const unit = cell.perByte ? "MB/s" : "answers/s";
  const title = `### ${cell.answer}${cell.delay === undefined ? "" : ` after ${cell.delay} ms`}, ${cell.connections} connection${cell.connections === 1 ? "" : "s"}`;
  const of = (name, round) =>
    mine.find((row) => row.peer === name && row.round === round && row.error === undefined);
  const ratio = (name, other) =>
    median(
      mine
        .filter((row) => row.peer === name && row.error === undefined)
        .map((row) => {
          const base = of(other, row.round);
          return base === undefined ? undefined : row.rate / base.rate;
        }),
    );
  const added = (name) =>
    median(
      mine
        .filter((row) => row.peer === name && row.error === undefined)
        .map((row) => {
          const base = of("direct", row.round);
          return base === undefined ? undefined : row.p50 - base.p50;
        }),
    );
  const lines = [
    title,
    "",
    `| who | ${unit} | of direct | of nginx | CPU µs an answer | p50 µs | p99 µs | added p50 µs | peak RSS MiB |`,
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
  ];
  for (const { name } of peers) {
    const own = mine.filter((row) => row.peer === name);
    if (own.length === 0) continue;
    const failed = own.find((row) => row.error !== undefined);
    if (failed !== undefined) {
      lines.push(`| ${name} | failed: ${failed.error.slice(0, 80)} | | | | | | | |`);
      continue;
    }
    const column = (key) => median(own.map((row) => row[key]));
    const cellsOfRow = [
      shown(column("rate"), 0),
      shown(ratio(name, "direct")),
      shown(ratio(name, "nginx")),
      shown(column("cpuUs"), 1),
      shown(column("p50"), 0),
      shown(column("p99"), 0),
      name === "direct" ? "" : shown(added(name), 0),
      shown(column("peakMiB"), 0),
    ];
    lines.push(`| ${name} | ${cellsOfRow.join(" | ")} |`);
  }
  return lines.join("\n");
}
