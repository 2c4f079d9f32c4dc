// maskgate as it is, with its event loop watched from inside: `{ reset: true }` begins anew, `{ report: true }` is answered with delays in milliseconds.
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let atPeak = { rss: 0 };
setInterval(() => {
  const now = process.memoryUsage();
  if (now.rss > atPeak.rss) atPeak = now;
}, 50).unref();
process.on("message", ({ reset, report, collect }) => {
  if (reset) {
    delay.reset();
    atPeak = { rss: 0 };
    process.send({ wasReset: true });
  }
  if (collect) {
    globalThis.gc();
    process.send({ wasCollected: true });
  }
  if (report) {
    const { rss, heapTotal, external, arrayBuffers } = atPeak;
    const memory = { rss, heapTotal, external, arrayBuffers };
    process.send({
      p50: delay.percentile(50) / 1e6,
      p99: delay.percentile(99) / 1e6,
      max: delay.max / 1e6,
      atPeakMiB: Object.fromEntries(
        Object.entries(memory).map(([name, bytes]) => [name, Math.round(bytes / 2 ** 20)]),
      ),
    });
  }
});
process.on("disconnect", () => process.exit(0));
await import(process.env.BENCH_MAIN ?? "../dist/cli/main.js");
