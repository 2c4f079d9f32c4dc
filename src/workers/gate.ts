import type { Config } from "../config/config.js";
import { ProxyError } from "../errors.js";
import { type Logger, writeLine } from "../observe/log.js";
import type { ProcessMetrics } from "../observe/process-metrics.js";
import type { Gate, LiveConfig } from "../proxy/gate.js";
import { openWatching, type Watching } from "../proxy/watching.js";
import { Crew } from "./crew.js";
import { createHearing } from "./hear.js";

/** A proxy whose workers serve the clients. */
export interface CrewGate extends Omit<Gate, "inFlight"> {
  inFlight(): Promise<number>;
}

/** What it needs of the program. */
export interface CrewProgram {
  /** The script that a worker runs. */
  readonly script: string;
  /** Told when workers end as soon as they have started, again and again. */
  giveUp(this: void, says: string): never;
}

/**
 * A proxy in front of one upstream, listening. Workers serve the clients and say what they see; everything there is one of (the listener for operators, counts,
 * storms, the record, the log) is in this process.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there; CONFIG_INVALID when a certificate's file cannot be used.
 */
export async function openCrewGate(
  config: Config,
  log: Logger,
  { script, giveUp }: CrewProgram,
): Promise<CrewGate> {
  const { workers, holdMemoryBytes } = config;
  const share = { ...config, holdMemoryBytes: Math.floor(holdMemoryBytes / workers) };
  let live = liveOf(config);
  let ending = false;
  const crew = new Crew({
    script,
    size: workers,
    log,
    giveUp,
    config: () => ({ ...share, ...live }),
    onReport: ({ seen, lines }) => {
      hear(seen);
      for (const line of lines) writeLine(log, line);
    },
  });
  const fresh = async (): Promise<void> => void (await crew.askQuickly({ type: "report" }));
  const own = config.admin === undefined ? undefined : await measureThis();
  const watching: Watching = await openWatching(config, log, {
    budget: {
      limit: holdMemoryBytes,
      get used() {
        return crew.load.heldBytes;
      },
      get spilled() {
        return crew.load.spilledBytes;
      },
    },
    routes: () => live.routes,
    inFlight: () => crew.load.inFlight,
    isDraining: () => ending,
    fresh,
    processes: async () => {
      const theirs = (await crew.askQuickly({ type: "measure" })) as ProcessMetrics[];
      return own === undefined ? theirs : [await own(), ...theirs];
    },
  });
  const hear = createHearing(watching.monitor);

  const close = async (): Promise<void> => {
    ending = true;
    await crew.close();
    await watching.close();
  };
  try {
    await crew.start();
  } catch (error) {
    await close();
    throw error;
  }

  /** In all workers or in none: each opens its new listeners first, which alone can fail. */
  const applyInTurn = async (next: LiveConfig): Promise<void> => {
    if (ending) return;
    refuseOtherFreePorts(live, next);
    try {
      await crew.askAll({ type: "prepare", live: liveOf(next) });
    } catch (error) {
      await crew.askAll({ type: "drop" });
      throw error;
    }
    live = liveOf(next);
    const answers = (await crew.askAll({ type: "apply" })) as (readonly string[] | undefined)[];
    crew.urls = answers.find((urls) => urls !== undefined) ?? [];
  };
  return {
    get url() {
      return crew.urls[0] ?? "";
    },
    get urls() {
      return crew.urls;
    },
    adminUrl: watching.url,
    apply: async (next) => crew.inTurn(async () => applyInTurn(next)),
    drain: async () => {
      ending = true;
      await crew.drain();
      await close();
    },
    close,
    inFlight: async () => {
      await fresh();
      return crew.load.inFlight;
    },
    noteReload: watching.noteReload,
  };
}

/** Loaded only where somebody can ask. */
async function measureThis(): Promise<() => Promise<ProcessMetrics>> {
  const { measureProcess } = await import("../observe/process-metrics.js");
  return measureProcess("primary");
}

function liveOf({ listen, routes, verifyPaths }: LiveConfig): LiveConfig {
  return { listen, routes, verifyPaths };
}

/** Which port stands for 0 goes by the order in which a worker has opened its listeners, and one that starts later knows only those that there are. */
function refuseOtherFreePorts(before: LiveConfig, after: LiveConfig): void {
  const free = ({ listen }: LiveConfig): string =>
    JSON.stringify(listen.filter(({ port }) => port === 0));
  if (free(before) === free(after)) return;
  const says =
    "listen: with more than one worker, listeners on port 0 cannot change; give them a port or restart";
  throw new ProxyError("CONFIG_INVALID", says);
}
