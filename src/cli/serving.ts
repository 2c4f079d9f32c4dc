import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Config } from "../config/config.js";
import { configFile, type ConfigInput, loadConfigAgain } from "../config/load.js";
import { createLogger, logEvent, type Logger } from "../observe/log.js";
import { type Gate, openGate } from "../proxy/gate.js";
import { collectLessOften } from "./collections.js";
import { endOnUncaught, endWith } from "./crash.js";
import { warnOfFewDescriptors } from "./descriptors.js";
import { warnOfDoubts } from "./doubts.js";
import { LineStream } from "./line-stream.js";
import { reloadOnChange } from "./reload.js";
import { stopGate } from "./stop.js";
import { warnOfNaN } from "./warn-nan.js";

/** How long the last lines of the log may take, in milliseconds. */
const LAST_LINES_MS = 1000;

/** The log of this process, which keeps the process alive until its last line is written. */
export interface ProcessLog {
  readonly log: Logger;
  /** Writes out the rest at once, for an end that waits for nothing; a line that is being written may then come after it. */
  flush(this: void): void;
  /** From now on the process only waits for its last lines, and not for long: whoever reads them may have stopped. */
  end(this: void): void;
}

/** The log on stderr: lines for people on a terminal, else JSON. */
export function openLog({ logLevel }: Config): ProcessLog {
  const destination = new LineStream(2);
  // To ask also has the pipe refuse what does not fit rather than block whoever writes.
  const readable = process.stderr.isTTY;
  const log = createLogger({ level: logLevel, readable, destination });
  const flush = (): void => destination.writeOut();
  endOnUncaught(log, flush);
  const end = (): void => void setTimeout(() => process.exit(), LAST_LINES_MS).unref();
  return { log, flush, end };
}

/** A proxy, in this process or in workers. */
export type Front = Omit<Gate, "inFlight"> & { inFlight(): number | Promise<number> };

/** A proxy that serves clients and follows its configuration file. */
export interface Serving {
  readonly gate: Front;
  /** Lets what is in flight finish, `drainMs` at most; a second signal ends it. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
}

/**
 * Stands in front of the upstream, listening, with the log saying so.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there.
 */
export async function startServing(
  input: ConfigInput,
  config: Config,
  { log, flush }: ProcessLog,
): Promise<Serving> {
  const gate = await openFront(config, log, flush);
  // Other programs reload or open their log anew at it; unheard, it would end this one.
  process.on("SIGUSR2", () => undefined);
  const file = configFile(input);
  const load = async (): Promise<Config> => (await loadConfigAgain(input)).config;
  warnOfNaN(config.routes, [], log);
  warnOfDoubts(config.routes, [], log);
  warnOfFewDescriptors(config.workers, log);
  warnOfManyWorkers(config.workers, log);
  const unwatch = reloadOnChange(gate, { file, load }, config, log);
  logListening(gate, config, log);
  return {
    gate,
    stop: async (signal) => {
      unwatch();
      await stopGate(gate, signal, config.drainMs, log);
    },
    close: async () => {
      unwatch();
      await gate.close();
    },
  };
}

async function openFront(config: Config, log: Logger, flush: () => void): Promise<Front> {
  if (config.workers === 1) {
    collectLessOften();
    return openGate(config, log);
  }
  // Loaded only here: one process alone has no use for it.
  const { openCrewGate } = await import("../workers/gate.js");
  return openCrewGate(config, log, {
    script: fileURLToPath(new URL("worker.js", import.meta.url)),
    giveUp: (says) => endWith(log, flush, "workers_failing", {}, `maskgate gives up: ${says}`),
  });
}

function warnOfManyWorkers(workers: number, log: Logger): void {
  const cores = availableParallelism();
  if (workers === 1 || workers <= cores) return;
  const says = `${workers} workers share ${cores} cores; more workers than cores carry no more`;
  logEvent(log, "warn", "many_workers", { workers, cores }, says);
}

function logListening(gate: Front, { upstream, routes, workers }: Config, log: Logger): void {
  const [first] = routes;
  const forAll = first === undefined || Object.keys(first.match).length === 0;
  const mode = forAll ? (first?.mode ?? "passthrough") : "routes";
  const says =
    mode === "routes"
      ? `${routes.length} ${routes.length === 1 ? "route" : "routes, the first that matches wins"}`
      : MODE_SAYS[mode];
  const operators = gate.adminUrl === undefined ? "" : `; for operators: ${gate.adminUrl}`;
  const by = workers === 1 ? "" : ` with ${workers} workers`;
  const fields = {
    url: gate.url,
    urls: gate.urls,
    adminUrl: gate.adminUrl,
    upstream: upstream.url,
    mode,
    routes: routes.map(({ name }) => name),
    workers: workers === 1 ? undefined : workers,
  };
  logEvent(
    log,
    "info",
    "listening",
    fields,
    `maskgate listens on ${gate.urls.join(" and ")} in front of ${upstream.url} (${mode}: ${says})${by}${operators}`,
  );
}

const MODE_SAYS = {
  strict: "a masked answer becomes HTTP 503 with the reason",
  observe: "masked answers are counted and logged, nothing is changed",
  passthrough: "nothing is changed",
} as const;
