import { setTimeout as after } from "node:timers/promises";
import type { Config } from "../config/config.js";
import type { ConfigInput } from "../config/resolve.js";
import type { UpstreamAddress } from "../config/upstream.js";
import { logEvent, type Logger } from "../observe/log.js";
import { type Child, type Ended, startChild } from "./child.js";
import { answers } from "./probe.js";
import { type ProcessLog, type Serving, startServing } from "./serving.js";
import { nextSignal, onEverySignal } from "./stop.js";

/** How often a starting server is asked, and how often the log says that it is waited for, in milliseconds. */
const ASK_EVERY_MS = 250;
const SAY_EVERY_MS = 5000;

/** How long replies to what was in flight may take once the server has ended, in milliseconds. */
const LAST_REPLIES_MS = 1000;

interface Wanted {
  readonly input: ConfigInput;
  readonly config: Config;
  /** With the authorities that its certificate may come from. */
  readonly upstream: UpstreamAddress;
  readonly processLog: ProcessLog;
}

/**
 * Starts the server, stands in front of it as soon as it answers, and passes SIGTERM and SIGINT on to it: at once while it starts, later when what is in flight
 * has finished. Resolves with the server's exit code when it has ended.
 *
 * @throws {ProxyError} LISTEN_FAILED when maskgate cannot listen; the server has been ended then.
 */
export async function front(command: readonly string[], wanted: Wanted): Promise<number> {
  const { input, config, upstream, processLog } = wanted;
  const { log } = processLog;
  const told = nextSignal();
  const child = startChild(command);
  const first = await Promise.race([told, child.ended, untilItAnswers(child, wanted)]);
  if (first === undefined) {
    const serving = await startServing(input, config, processLog).catch(async (error: unknown) => {
      await pass("SIGTERM", child);
      throw error;
    });
    return untilTheEnd(child, serving, told, log);
  }
  if (typeof first === "string") return pass(first, child);
  const hint = START_HINTS.get(first.code) ?? "";
  const says = `the server ended with ${first.how}${hint} before it answered on ${upstream.url}`;
  process.stderr.write(`maskgate: ${says}\n`);
  return first.code;
}

/** What a shell means by these. */
const START_HINTS: ReadonlyMap<number, string> = new Map([
  [126, " (the command cannot be executed)"],
  [127, " (no such command)"],
]);

async function untilItAnswers(
  { ended }: Child,
  { upstream, processLog: { log } }: Wanted,
): Promise<undefined> {
  const over = ended.then(
    () => true,
    () => true,
  );
  const started = performance.now();
  let said = started;
  logEvent(log, "info", "server_waiting", { upstream: upstream.url }, waits(upstream.url));
  while (!(await answers(upstream))) {
    if (await Promise.race([over, after(ASK_EVERY_MS, false)])) break;
    const now = performance.now();
    if (now - said < SAY_EVERY_MS) continue;
    said = now;
    const seconds = Math.round((now - started) / 1000);
    const says = `${waits(upstream.url)} (${seconds} s)`;
    logEvent(log, "info", "server_waiting", { upstream: upstream.url, seconds }, says);
  }
}

function waits(url: string): string {
  return `waiting for the server to answer on ${url}`;
}

async function untilTheEnd(
  child: Child,
  serving: Serving,
  told: Promise<NodeJS.Signals>,
  log: Logger,
): Promise<number> {
  const first = await Promise.race([told, child.ended]);
  if (typeof first === "string") {
    await Promise.race([serving.stop(first), child.ended]);
    await serving.close();
    return pass(first, child);
  }
  logEnd(first, log);
  await Promise.race([serving.gate.drain(), after(LAST_REPLIES_MS, undefined, { ref: false })]);
  await serving.close();
  return first.code;
}

function logEnd({ code, how }: Ended, log: Logger): void {
  const says = `the server ended with ${how}; so does maskgate`;
  logEvent(log, code === 0 ? "info" : "error", "server_ended", { code }, says);
}

/** Passes this signal and every later one on, until the server has ended. */
async function pass(signal: NodeJS.Signals, child: Child): Promise<number> {
  const passed = onEverySignal((next) => child.signal(next));
  child.signal(signal);
  const { code } = await child.ended;
  passed();
  return code;
}
