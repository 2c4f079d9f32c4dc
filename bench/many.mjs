// npm run bench:many [-- --requests N] [--delay MS]: verifies that take a minute each, all in flight at once, on a strict route.
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { residentMiB, stopAll } from "./processes.mjs";
import { askBeside, openStage, percentile } from "./stage.mjs";

const { values: flags } = parseArgs({
  options: {
    requests: { type: "string", default: "8000" },
    delay: { type: "string", default: "60000" },
  },
});
const requests = Number(flags.requests);
const delay = Number(flags.delay);

const KIB_A_REQUEST = 40;

const stage = await openStage(["--masked-as-error"]);
const { gate, port } = stage;
await stage.collect();
const before = residentMiB(gate.pid);
await stage.forget();
const beside = askBeside(port, 100);
const running = stage.run({
  answer: "2k",
  connections: requests,
  each: 1,
  delay,
  giveUpMs: delay * 2 + 60_000,
});
await wait(delay * 0.8);
await stage.collect();
const during = residentMiB(gate.pid);
const result = await running;
const latencies = await beside.stop();
const loop = await stage.report();
const kib = ((during - before) * 1024) / requests;
process.stdout.write(
  `${[
    result.error === undefined
      ? `${result.answers} verifies of ${delay / 1000} s each in flight at once, every byte as it should be`
      : `FAILED: ${result.error}`,
    `resident: ${before.toFixed(0)} MiB before, ${during.toFixed(0)} MiB with all in flight: ${kib.toFixed(1)} KiB a request`,
    `GET / beside them, ${latencies.length} times: p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms, max ${latencies.at(-1).toFixed(1)} ms`,
    `event-loop delay p50 ${loop.p50.toFixed(1)} ms, p99 ${loop.p99.toFixed(1)} ms, max ${loop.max.toFixed(1)} ms`,
    `load average ${loadavg()[0].toFixed(1)}`,
  ].join("\n")}\n`,
);
await stopAll();
process.exit(result.error === undefined && kib < KIB_A_REQUEST ? 0 : 1);
