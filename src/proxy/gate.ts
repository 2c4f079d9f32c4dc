import type { Config, Listen } from "../config/config.js";
import { defaultRoute } from "../config/defaults.js";
import { ProxyError } from "../errors.js";
import type { Logger } from "../observe/log.js";
import type { ReloadOutcome } from "../observe/monitor.js";
import { createPool } from "./agent.js";
import { openWatching, type Watching } from "./watching.js";
import { type Door, openDoor } from "./door.js";
import type { Pipeline } from "./handler.js";
import { HoldBudget } from "./hold.js";
import { tellOfRefusals } from "./refusals.js";
import { Turn } from "./turn.js";
import { warnOfUnmatched } from "./unmatched.js";
import { withAuthorities } from "./pem.js";

/** What of a configuration can be changed while requests are in flight. */
export type LiveConfig = Pick<Config, "listen" | "routes" | "verifyPaths">;

/** A configuration whose new listeners are open already, and that does not apply to the others yet. */
export interface Prepared {
  apply(): Promise<void>;
  drop(): Promise<void>;
}

/** A proxy that listens. */
export interface Gate {
  /** Where clients reach it: the first of `urls`. */
  readonly url: string;
  readonly urls: readonly string[];
  /** Where operators reach it; undefined where nothing listens for them. */
  readonly adminUrl: string | undefined;
  /**
   * Applies to requests that arrive from now on; those in flight keep the route they started with. Listeners that are new open, those that are gone drain.
   * Nothing happens once the proxy is being stopped.
   *
   * @throws {ProxyError} LISTEN_FAILED when a new one cannot listen; nothing has changed then.
   */
  apply(live: LiveConfig): Promise<void>;
  /** Stops listening, lets what is in flight finish, and resolves when the last of it has. */
  drain(): Promise<void>;
  /** Ends everything at once; what is in flight is broken off. */
  close(): Promise<void>;
  /** How many requests are in flight. */
  inFlight(): number;
  /** Takes note for the metrics that the configuration was read anew. */
  noteReload(outcome: ReloadOutcome): void;
}

/** A proxy in this process. */
export interface LocalGate extends Gate {
  /** The first half of `apply`, which alone can fail. */
  prepare(live: LiveConfig): Promise<Prepared>;
}

/** Each listener under a key of its own: port 0 may be asked for more than once, and means another port each time. */
function keyed(wanted: readonly Listen[]): [string, Listen][] {
  const counts = new Map<string, number>();
  return wanted.map((listen) => {
    const { host, port, tls } = listen;
    const address = `${host} ${port} ${JSON.stringify(tls ?? null)}`;
    const count = (counts.get(address) ?? 0) + 1;
    counts.set(address, count);
    return [`${address} ${count}`, listen];
  });
}

/** The error for a listener that is not to be had, with what to do where one of our own has its port: that one closes only once every new one is open. */
function withOwnPort(error: unknown, { host, port }: Listen, current: readonly Listen[]): unknown {
  const own = current.find((listen) => {
    const hosts = [listen.host, host];
    const meet = hosts[0] === host || hosts.includes("0.0.0.0") || hosts.includes("::");
    return listen.port === port && meet;
  });
  const cause = error instanceof ProxyError ? error.cause : undefined;
  if (own === undefined || (cause as NodeJS.ErrnoException)?.code !== "EADDRINUSE") return error;
  const says = `cannot listen on ${host}:${port}: maskgate has this port already, at ${own.host}; to give that listener another host or TLS, restart maskgate`;
  return new ProxyError("LISTEN_FAILED", says, { cause });
}

/** What no route matches. */
const UNMATCHED = { ...defaultRoute("passthrough"), name: "unmatched" };

/**
 * A proxy in front of one upstream, listening.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there; CONFIG_INVALID when a certificate's file cannot be used.
 */
export async function openGate(
  config: Config,
  log: Logger,
  openWatch: typeof openWatching = openWatching,
): Promise<LocalGate> {
  const { connectRetryMs, upstreamTimeoutMs, maxAnswerBytes } = config;
  const upstream = await withAuthorities(config);
  const budget = new HoldBudget(config.holdMemoryBytes);
  const pool = createPool(upstream);
  const refusals = tellOfRefusals(log, upstream.url, connectRetryMs);
  let live: LiveConfig = config;
  let doors = new Map<string, Door>();
  const leaving = new Set<Door>();
  const everyDoor = (): Door[] => [...doors.values(), ...leaving];
  const inFlight = (): number => everyDoor().reduce((sum, door) => sum + door.inFlight(), 0);
  let ending = false;
  const watching: Watching = await openWatch({ ...config, upstream }, log, {
    budget,
    routes: () => live.routes,
    inFlight,
    isDraining: () => ending,
  }).catch((error: unknown) => {
    pool.close();
    throw error;
  });
  const { monitor } = watching;
  const pipeline: Pipeline = {
    transport: { upstream, pool, connectRetryMs, refusals, upstreamTimeoutMs },
    bounds: { budget, turn: new Turn(), maxAnswerBytes },
    log,
    monitor,
    unmatched: UNMATCHED,
    onUnmatched: warnOfUnmatched(log),
    live: () => live,
  };

  /** Opens what is wanted and not there yet, all of it or nothing; what is new goes by the new routes from its first request on. */
  const openDoors = async (upcoming: LiveConfig): Promise<Map<string, Door>> => {
    const before = live;
    const ahead = { ...pipeline, live: () => (live === before ? upcoming : live) };
    const next = new Map<string, Door>();
    const opened: Door[] = [];
    const refuse = (listen: Listen) => (error: unknown) => {
      throw doors.size === 0 ? error : withOwnPort(error, listen, before.listen);
    };
    try {
      for (const [key, listen] of keyed(upcoming.listen)) {
        const door = doors.get(key) ?? (await openDoor(listen, ahead).catch(refuse(listen)));
        if (!doors.has(key)) opened.push(door);
        next.set(key, door);
      }
    } catch (error) {
      await Promise.all(opened.map((door) => door.close()));
      throw error;
    }
    return next;
  };

  doors = await openDoors(config).catch(async (error: unknown) => {
    pool.close();
    await watching.close();
    throw error;
  });
  const urls = (): string[] => [...doors.values()].map((door) => door.url);

  const prepare = async (next: LiveConfig): Promise<Prepared> => {
    const opened = await openDoors(next);
    const drop = async (): Promise<void> => {
      const late = [...opened.values()].filter((door) => !everyDoor().includes(door));
      await Promise.all(late.map((door) => door.close()));
    };
    const apply = async (): Promise<void> => {
      if (ending) return drop();
      for (const [key, door] of doors) {
        if (opened.has(key)) continue;
        leaving.add(door);
        void door.drain().then(() => leaving.delete(door));
      }
      doors = opened;
      live = next;
    };
    return { apply, drop };
  };
  const drain = async (): Promise<void> => {
    ending = true;
    await Promise.all(everyDoor().map((door) => door.drain()));
    pool.close();
    await watching.close();
  };
  return {
    get url() {
      return urls()[0] ?? "";
    },
    get urls() {
      return urls();
    },
    adminUrl: watching.url,
    apply: async (next) => (await prepare(next)).apply(),
    prepare,
    drain,
    close: async () => {
      ending = true;
      await Promise.all(everyDoor().map((door) => door.close()));
      pool.close();
      await watching.close();
    },
    inFlight,
    noteReload: watching.noteReload,
  };
}
