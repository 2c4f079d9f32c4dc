import type { Worker } from "node:cluster";
import type { Config } from "../config/config.js";
import { ProxyError } from "../errors.js";
import { createLogger, type Logger } from "../observe/log.js";
import type { ProcessMetrics } from "../observe/process-metrics.js";
import { type LocalGate, openGate, type Prepared } from "../proxy/gate.js";
import type { Failed, Load, NumberedOrder, Order, Word } from "./messages.js";
import { Reporter } from "./reporter.js";

/** What all workers would say alike, and one says for all. An unescaped quote stands in no text of a JSON line. */
const SAID_BY_ONE = /"event":"(?:exposed|certificate_applied|certificate_refused)"/;

/** What a worker needs of its process. */
export interface OwnProcess {
  /** Told of the log as soon as there is one. */
  onLog(this: void, log: Logger, flush: () => void, name: string): void;
  end(this: void): void;
}

/** Serves clients as the first process of the program orders it to, and tells it what it sees. */
export function work(self: Worker, { onLog, end }: OwnProcess): void {
  let reporter: Reporter | undefined;
  let gate: LocalGate | undefined;
  let prepared: Prepared | undefined;
  let measure: (() => Promise<ProcessMetrics>) | undefined;
  // Nobody hears an error about that: without the first process there is no worker.
  const send = (word: Word): void => void self.process.send?.(word, undefined, {}, () => undefined);

  const start = async (slot: number, config: Config): Promise<readonly string[]> => {
    let load = (): Load => ({ inFlight: 0, heldBytes: 0, spilledBytes: 0 });
    const wantsIds = config.admin !== undefined || config.audit !== undefined;
    const reporting = new Reporter(
      wantsIds,
      () => load(),
      (report) => send({ type: "report", ...report }),
    );
    reporter = reporting;
    const write = (line: string): void => {
      if (slot === 1 || !SAID_BY_ONE.test(line)) reporting.line(line);
    };
    const { logLevel: level } = config;
    const log = createLogger({ level, readable: false, destination: { write } }).child({
      worker: slot,
    });
    onLog(log, () => reporting.flush(), `worker ${slot}`);
    if (config.admin !== undefined) {
      const { measureProcess } = await import("../observe/process-metrics.js");
      measure = measureProcess(String(slot));
    }
    gate = await openGate(config, log, async (_config, _log, asked) => {
      const { budget, inFlight } = asked;
      load = () => ({
        inFlight: inFlight(),
        heldBytes: budget.used,
        spilledBytes: budget.spilled,
      });
      return {
        monitor: reporting,
        url: undefined,
        noteReload: () => undefined,
        close: async () => undefined,
      };
    });
    return gate.urls;
  };

  const obey = async (order: Order): Promise<unknown> => {
    switch (order.type) {
      case "start":
        return start(order.slot, order.config);
      case "prepare":
        prepared = await gate?.prepare(order.live);
        return undefined;
      case "apply":
        await prepared?.apply();
        return gate?.urls;
      case "drop":
        return prepared?.drop();
      case "report":
        return undefined;
      case "measure":
        return measure?.();
      case "drain":
        return gate?.drain();
      case "close":
        return gate?.close();
    }
  };
  const carryOut = async ({ id, order }: NumberedOrder): Promise<void> => {
    let word: Word;
    try {
      word = { type: "done", id, value: await obey(order) };
    } catch (error) {
      word = { type: "failed", id, error: failedBy(error) };
    }
    reporter?.flush();
    send(word);
    if (order.type === "close") end();
  };
  self.on("message", (order: NumberedOrder) => void carryOut(order));
  send({ type: "up" });
}

function failedBy(error: unknown): Failed {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof ProxyError ? error.code : "INTERNAL", message };
}
