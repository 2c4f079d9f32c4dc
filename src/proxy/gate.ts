import type { Server } from "node:http";
import type { GateConfig } from "../config/defaults.js";
import type { Logger } from "../observe/log.js";
import { createPool } from "./agent.js";
import { createHandler } from "./handler.js";
import { createListener, listen } from "./server.js";
import { createUpgrades } from "./upgrade.js";

/** A proxy that listens. */
export interface Gate {
  /** Where clients reach it. */
  readonly url: string;
  /** Stops listening, lets what is in flight finish, and resolves when the last of it has. */
  drain(): Promise<void>;
  /** Ends everything at once; what is in flight is broken off. */
  close(): Promise<void>;
  /** How many requests are in flight. */
  inFlight(): number;
}

/**
 * A proxy in front of one upstream, listening.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there.
 */
export async function openGate(config: GateConfig, log: Logger): Promise<Gate> {
  const { upstream, connectRetryMs, upstreamTimeoutMs } = config;
  const pool = createPool(upstream);
  let draining = false;
  let inFlight = 0;
  const handle = createHandler({
    transport: { upstream, pool, connectRetryMs, upstreamTimeoutMs },
    maxAnswerBytes: config.maxAnswerBytes,
    log,
    routeOf: () => config.route,
    isDraining: () => draining,
    onOpened: () => {
      inFlight += 1;
    },
    onClosed: () => {
      inFlight -= 1;
      if (draining) setImmediate(() => server.closeIdleConnections());
    },
  });
  const server = createListener(handle, log);
  const upgrades = createUpgrades(server, upstream, log);
  server.on("upgrade", upgrades.handle);
  const port = await listen(server, config.host, config.port).catch((error: unknown) => {
    pool.close();
    throw error;
  });

  const drain = async (): Promise<void> => {
    draining = true;
    await closed(server);
    pool.close();
  };
  return {
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`,
    drain,
    close: () => {
      const done = drain();
      server.closeAllConnections();
      upgrades.closeAll();
      return done;
    },
    inFlight: () => inFlight,
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
