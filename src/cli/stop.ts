import { logEvent, type Logger } from "../observe/log.js";
import type { Front } from "./serving.js";

const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** The next SIGTERM or SIGINT; while nobody waits for one, they do what they always do. */
export function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      for (const name of STOP_SIGNALS) process.off(name, stop);
      resolve(signal);
    };
    for (const name of STOP_SIGNALS) process.on(name, stop);
  });
}

/** Calls `pass` for every SIGTERM and SIGINT from now on. Returns how to stop. */
export function onEverySignal(pass: (signal: NodeJS.Signals) => void): () => void {
  for (const name of STOP_SIGNALS) process.on(name, pass);
  return () => {
    for (const name of STOP_SIGNALS) process.off(name, pass);
  };
}

/** Lets what is in flight finish after a first signal; ends it at a second one, or when `drainMs` have passed. */
export async function stopGate(
  gate: Front,
  signal: NodeJS.Signals,
  drainMs: number,
  log: Logger,
): Promise<void> {
  const again = nextSignal();
  const drained = gate.drain();
  const inFlight = await gate.inFlight();
  const says = `${signal}: ${inFlight} in flight may finish; once more ends them`;
  logEvent(log, "info", "draining", { signal, inFlight }, says);
  const limit = new Promise<string>((resolve) => {
    setTimeout(resolve, drainMs, `after ${drainMs / 1000} s`).unref();
  });
  const cut = await Promise.race([drained, again, limit]);
  const left = await gate.inFlight();
  await gate.close();
  if (cut === undefined) {
    logEvent(log, "info", "stopped", { inFlight: 0 }, "stopped; nothing was cut off");
  } else {
    const broken = `stopped ${cut}; ${left} in flight were broken off`;
    logEvent(log, "warn", "stopped", { inFlight: left }, broken);
  }
}
