import type { Server } from "node:http";
import type https from "node:https";
import type { Socket } from "node:net";
import type { Listen } from "../config/config.js";
import { readIdentity } from "./pem.js";
import { logEvent, type Logger } from "../observe/log.js";
import { createHandler, type Entrance, type Pipeline } from "./handler.js";
import { followIdentity } from "./identity.js";
import { createListener, isExposed, listen } from "./server.js";
import { createUpgrades } from "./upgrade.js";

/** One address that clients come in by. */
export interface Door {
  readonly url: string;
  /** Takes nobody in any more, lets what is in flight finish, and resolves when the last of it has. */
  drain(): Promise<void>;
  /** Ends everything at once. */
  close(): Promise<void>;
  inFlight(): number;
}

/**
 * Opens a door of the proxy.
 *
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there; CONFIG_INVALID when its certificate cannot be used.
 */
export async function openDoor({ host, port, tls }: Listen, pipeline: Pipeline): Promise<Door> {
  let draining: Promise<void> | undefined;
  let inFlight = 0;
  let boundPort = port;
  // Connections on which nothing was asked yet: Node does not count them among the idle ones.
  // They go by their other end, because a request over TLS comes by another socket than the connection that carries it.
  const silent = new Map<string, Socket>();
  const { log } = pipeline;
  const server = createListener(log, tls && (await readIdentity(tls)));
  const known = new WeakSet<Socket>();
  server.on("connection", (socket) => {
    const end = endOf(socket);
    silent.set(end, socket);
    // A connection that declined an upgrade comes anew.
    if (!known.has(socket)) socket.once("close", () => silent.delete(end));
    known.add(socket);
  });
  const entrance: Entrance = {
    port: () => boundPort,
    isDraining: () => draining !== undefined,
    onOpened: (socket) => {
      silent.delete(endOf(socket));
      inFlight += 1;
    },
    onClosed: () => {
      inFlight -= 1;
      if (draining !== undefined) setImmediate(() => server.closeIdleConnections());
    },
  };
  const handle = createHandler(pipeline, entrance);
  const upgrades = createUpgrades(server, pipeline, entrance);
  server.on("request", (request, reply) => handle(request, reply));
  server.on("checkContinue", (request, reply) => handle(request, reply, true));
  server.on("checkExpectation", (request, reply) => handle(request, reply));
  server.on("upgrade", upgrades.handle);
  boundPort = await listen(server, host, port);
  const scheme = tls === undefined ? "http" : "https";
  const url = `${scheme}://${host.includes(":") ? `[${host}]` : host}:${boundPort}`;
  warnOfExposure(server, url, log);
  const unfollow = tls && followIdentity(server as https.Server, tls, log);

  const drain = (): Promise<void> => {
    draining ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of silent.values()) socket.destroy();
      unfollow?.();
    });
    return draining;
  };
  return {
    url,
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

function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** maskgate asks nobody who he is: whoever reaches a door that is open to other machines reaches the upstream through it. */
function warnOfExposure(server: Server, url: string, log: Logger): void {
  if (!isExposed(server)) return;
  const says = `other machines can reach ${url}, and through it the upstream: maskgate has no passwords`;
  logEvent(log, "warn", "exposed", { url }, says);
}
