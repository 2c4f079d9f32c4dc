import type { Socket } from "node:net";
import type { Listen } from "../config/config.js";
import { createHandler, type Entrance, type Pipeline } from "./handler.js";
import { createListener, listen } from "./server.js";
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
 * @throws {ProxyError} LISTEN_FAILED when it cannot listen there.
 */
export async function openDoor({ host, port }: Listen, pipeline: Pipeline): Promise<Door> {
  let draining: Promise<void> | undefined;
  let inFlight = 0;
  let boundPort = port;
  // Connections on which nothing was asked yet: Node does not count them among the idle ones.
  const silent = new Set<Socket>();
  const server = createListener(pipeline.log);
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
  });
  const entrance: Entrance = {
    port: () => boundPort,
    isDraining: () => draining !== undefined,
    onOpened: (socket) => {
      silent.delete(socket);
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

  const drain = (): Promise<void> => {
    draining ??= new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of silent) socket.destroy();
    });
    return draining;
  };
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
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
