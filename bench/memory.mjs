// npm run bench:memory [-- --answers N]: many answers of 16 MiB at once on a strict route with the default holdMemoryBytes.
import { readdirSync, readlinkSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { peakMiB, residentMiB, stopAll } from "./processes.mjs";
import { askBeside, openStage, percentile } from "./stage.mjs";

const HOLD_MIB = 256;
const BEYOND_MIB = 150;

const { values: flags } = parseArgs({ options: { answers: { type: "string", default: "300" } } });
const count = Number(flags.answers);

const stage = await openStage(["--masked-as-error"]);
const { gate, port } = stage;
const before = residentMiB(gate.pid);
const openFiles = () =>
  readdirSync(`/proc/${gate.pid}/fd`).filter((name) => {
    try {
      return readlinkSync(`/proc/${gate.pid}/fd/${name}`).includes(".held");
    } catch {
      return false;
    }
  }).length;

/** `count` answers of 16 MiB; with `together`, none ends before all are nearly whole. */
async function run(title, job) {
  await stage.forget();
  const beside = askBeside(port, 50);
  let filesAtMost = 0;
  const looking = setInterval(() => {
    filesAtMost = Math.max(filesAtMost, openFiles());
  }, 100);
  const result = await stage.run({ answer: "16m", each: 1, giveUpMs: 900_000, ...job });
  const latencies = await beside.stop();
  clearInterval(looking);
  const loop = await stage.report();
  const peak = peakMiB(gate.pid);
  await wait(1000);
  const lines = [
    `## ${title}`,
    result.error === undefined
      ? `${result.answers} answers, every byte as it should be, in ${result.seconds.toFixed(1)} s (${(result.bytes / 1e6 / result.seconds).toFixed(0)} MB/s)`
      : `FAILED: ${result.error}`,
    `peak RSS ${peak.toFixed(0)} MiB (idle before: ${before.toFixed(0)}; bound: ${HOLD_MIB + BEYOND_MIB}); near it, in MiB: ${JSON.stringify(loop.atPeakMiB)}`,
    `event-loop delay p50 ${loop.p50.toFixed(1)} ms, p99 ${loop.p99.toFixed(1)} ms, max ${loop.max.toFixed(1)} ms`,
    `GET / beside them, ${latencies.length} times: p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms, max ${latencies.at(-1).toFixed(1)} ms`,
    `temporary files: ${filesAtMost} at most, ${openFiles()} afterwards`,
  ];
  process.stdout.write(`${lines.join("\n")}\n\n`);
  return result.error === undefined && peak <= HOLD_MIB + BEYOND_MIB && openFiles() === 0;
}

const fine = [
  await run(`${count} answers of 16 MiB at once, as fast as they come`, { connections: count }),
  await run(`${count} answers of 16 MiB, none ends before all are nearly whole`, {
    connections: count,
    together: count,
  }),
  await run("32 answers of 16 MiB at once", { connections: 32, each: 2 }),
];
process.stdout.write(`load average ${loadavg()[0].toFixed(1)}\n`);
await stopAll();
process.exit(fine.every(Boolean) ? 0 : 1);
