import { pino } from "pino";
import { parseUpstream } from "../config/upstream.js";
import type { LogLevel } from "../config/config.js";
import { createLogger, logEvent, type Logger } from "../observe/log.js";
import { type Gate, openGate } from "../proxy/gate.js";
import { defaultConfig } from "../config/defaults.js";

export interface ServeOptions {
  readonly port: number;
  readonly host: string;
  readonly maskedAsError: boolean;
  readonly logLevel: LogLevel;
}

/** How long requests in flight may take after the first SIGTERM or SIGINT, in milliseconds: verifies take minutes. */
const DRAIN_MS = 600_000;

/** Serves until it is told to stop; the process then ends by itself. */
export async function serve(upstreamText: string, options: ServeOptions): Promise<void> {
  const upstream = parseUpstream(upstreamText);
  const destination = pino.destination({ dest: 2, sync: false });
  destination.on("error", ignoreClosedPipe);
  const log = createLogger({
    level: options.logLevel,
    readable: process.stderr.isTTY,
    destination,
  });
  const mode = options.maskedAsError ? "strict" : "passthrough";
  const gate = await openGate(
    { ...defaultConfig(upstream, mode), listen: [{ host: options.host, port: options.port }] },
    log,
  );
  logEvent(
    log,
    "info",
    "listening",
    { url: gate.url, upstream: upstream.url, mode },
    `maskgate listens on ${gate.url} in front of ${upstream.url} (${mode}: ${MODE_SAYS[mode]})`,
  );
  await stopped(gate, log);
  destination.flushSync();
}

const MODE_SAYS = {
  strict: "a masked answer becomes HTTP 503 with the reason",
  passthrough: "nothing is changed",
} as const;

/** Resolves when the last request has finished after a signal, or at once after a second one or past the limit. */
async function stopped(gate: Gate, log: Logger): Promise<void> {
  const signal = await nextSignal();
  const inFlight = gate.inFlight();
  logEvent(
    log,
    "info",
    "draining",
    { signal, inFlight },
    `${signal}: ${inFlight} in flight may finish; once more ends them`,
  );
  const limit = new Promise<string>((resolve) => {
    setTimeout(resolve, DRAIN_MS, `after ${DRAIN_MS / 1000} s`).unref();
  });
  const cut = await Promise.race([gate.drain(), nextSignal(), limit]);
  if (cut !== undefined) {
    const left = gate.inFlight();
    logEvent(
      log,
      "warn",
      "stopped",
      { inFlight: left },
      `stopped ${cut}; ${left} in flight were broken off`,
    );
    await gate.close();
    return;
  }
  logEvent(log, "info", "stopped", { inFlight: 0 }, "stopped; nothing was cut off");
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const signals = ["SIGTERM", "SIGINT"] as const;
    const stop = (signal: NodeJS.Signals): void => {
      for (const name of signals) process.off(name, stop);
      resolve(signal);
    };
    for (const name of signals) process.on(name, stop);
  });
}

/** Whoever read the log has gone; serving goes on without it. */
function ignoreClosedPipe(): void {}
