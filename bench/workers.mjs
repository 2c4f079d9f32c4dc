// npm run bench:workers [-- --workers N] [--rounds N] [--seconds S]: what several workers carry beside one process, on a strict route.
// Nothing is pinned: load, upstream and maskgate share all cores, so the rates say what this machine does and the CPU times what a larger one would.
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CELLS } from "./cells.mjs";
import { ROOT } from "./peers.mjs";
import * as processes from "./processes.mjs";

const { values: flags } = parseArgs({
  options: {
    workers: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "2" },
  },
});
const rounds = Number(flags.rounds);
const measureMs = Number(flags.seconds) * 1000;
const everywhere = `0-${availableParallelism() - 1}`;
const script = (name) => fileURLToPath(new URL(name, import.meta.url));

const stub = processes.startScript(everywhere, script("stub.mjs"));
const { port: upstreamPort } = await processes.message(stub, ({ port }) => port !== undefined);
const load = processes.startScript(everywhere, script("load.mjs"));

async function open(workers) {
  const port = await processes.freePort();
  const child = processes.start(everywhere, [
    ...[process.execPath, `${ROOT}/bin/maskgate.js`, "serve", `http://127.0.0.1:${upstreamPort}`],
    ...["--port", String(port), "--masked-as-error", "--log-level", "warn"],
    ...["--workers", String(workers)],
  ]);
  await processes.listens(port, child);
  return { workers, port, child };
}

async function measure({ port, child }, { answer, masked }, warmMs) {
  load.send({
    ...{ port, answer, connections: 16, warmMs, measureMs },
    ...{ status: masked ? 503 : 200, sameBytes: !masked },
  });
  await processes.message(load, (sent) => sent.counting);
  const before = [processes.cpuMs(child.pid), processes.cpuMs(child.pid, false)];
  const result = await processes.message(load, (sent) => sent.seconds !== undefined);
  const after = [processes.cpuMs(child.pid), processes.cpuMs(child.pid, false)];
  if (result.error !== undefined) throw new Error(result.error);
  const [all, first] = after.map((ms, i) => ((ms - before[i]) * 1000) / result.answers);
  return { rate: result.answers / result.seconds, all, first };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

const sides = [await open(1), await open(Number(flags.workers))];
const cells = CELLS.filter(({ id }) => ["2k", "2k-masked", "64k", "1m"].includes(id));
const rows = [];
for (let round = 0; round < rounds; round++) {
  for (const cell of cells) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const result = await measure(side, cell, round === 0 ? 1500 : 500);
      rows.push({ cell: cell.id, workers: side.workers, ...result });
    }
  }
}
for (const { id } of cells) {
  for (const { workers } of sides) {
    const of = rows.filter((row) => row.cell === id && row.workers === workers);
    const [rate, all, first] = ["rate", "all", "first"].map((key) =>
      median(of.map((row) => row[key])),
    );
    process.stdout.write(
      `${id.padEnd(10)} workers ${workers}  ${rate.toFixed(0).padStart(7)} answers/s  CPU ${all.toFixed(0).padStart(5)} µs an answer, ${first.toFixed(1)} of them in the first process\n`,
    );
  }
}
process.stdout.write(`load average ${loadavg()[0].toFixed(1)}\n`);
await processes.stopAll();
process.exit(0);
