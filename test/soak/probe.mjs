// Runs inside the proxy's process: tells at SIGUSR2 how it is, on a line of its own.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { writeSync } from "node:fs";

const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map(
    (ns) => ns / 1e6,
  );
  delay.reset();
  writeSync(2, `${JSON.stringify({ event: "soak", rss, heapUsed, external, p50, p99, max })}\n`);
});
