import cluster from "node:cluster";
import { collectLessOften } from "./collections.js";

// A signal to all processes of a group or service is meant for the first one, which ends its workers.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const)
  process.on(signal, () => undefined);

const [{ work }, { endOnUncaught }] = await Promise.all([
  import("../workers/worker.js"),
  import("./crash.js"),
]);
if (cluster.worker !== undefined) {
  collectLessOften();
  work(cluster.worker, { onLog: endOnUncaught, end: () => process.exit(0) });
}
