// A stub, a load and a watched maskgate for the benches that look at one maskgate from inside.
import http from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import * as processes from "./processes.mjs";

const script = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Everything started, listening, and warm. */
export async function openStage(flags) {
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void processes.stopAll().finally(() => process.exit(1)));
  }
  const stub = processes.startScript(processes.FIELD_CORE, script("stub.mjs"));
  const { port: upstreamPort } = await processes.message(stub, (sent) => sent.port !== undefined);
  const load = processes.startScript(processes.FIELD_CORE, script("load.mjs"));
  const port = await processes.freePort();
  const serve = ["serve", `http://127.0.0.1:${upstreamPort}`, "--port", String(port)];
  const gate = processes.startScript(processes.PROXY_CORE, script("watched-maskgate.mjs"), {
    args: [...serve, "--log-level", "warn", ...flags],
    execArgv: ["--expose-gc"],
  });
  await processes.listens(port, gate);
  const run = async (job) => {
    load.send({ port, status: 200, sameBytes: true, warmMs: 0, measureMs: 1, ...job });
    return processes.message(load, (sent) => sent.seconds !== undefined);
  };
  await run({ answer: "2k", connections: 16, minAnswers: 2000 });
  return {
    port,
    upstreamPort,
    stub,
    gate,
    run,
    forget: async () => {
      gate.send({ reset: true });
      await processes.message(gate, (sent) => sent.wasReset);
      processes.resetPeak(gate.pid);
    },
    /** Collects what is dead, so that what is left can be told. */
    collect: async () => {
      gate.send({ collect: true });
      await processes.message(gate, (sent) => sent.wasCollected);
    },
    report: async () => {
      gate.send({ report: true });
      return processes.message(gate, (sent) => sent.p99 !== undefined);
    },
  };
}

/** Asks GET / again and again until it is stopped; `stop` resolves with the sorted latencies in milliseconds. Throws at the first that fails. */
export function askBeside(port, everyMs) {
  const agent = new http.Agent({ keepAlive: true });
  const latencies = [];
  const state = { going: true };
  const once = () =>
    new Promise((resolve, reject) => {
      const sent = performance.now();
      http
        .get({ port, host: "127.0.0.1", path: "/", agent }, (answer) => {
          answer.resume().once("end", () => {
            latencies.push(performance.now() - sent);
            if (answer.statusCode === 200) resolve();
            else reject(new Error(`GET / gave ${answer.statusCode}`));
          });
        })
        .once("error", reject);
    });
  const asking = (async () => {
    while (state.going) {
      await once();
      await wait(everyMs);
    }
  })();
  asking.catch(() => undefined);
  return {
    stop: async () => {
      state.going = false;
      await asking;
      agent.destroy();
      return latencies.toSorted((a, b) => a - b);
    },
  };
}

/** The value below which this share of sorted numbers lies. */
export const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
