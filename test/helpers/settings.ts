import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { closeLater } from "./closing.js";

/** What Node itself tells about the proxy's server and about its requests to the upstream. */
export interface Seen {
  readonly servers: { server: Server; socket: Socket; request: IncomingMessage }[];
  readonly calls: ClientRequest[];
}

/** Collects, until the end of the test, every request that node:http takes or sends in this process. */
export function watchHttp(): Seen {
  const seen: Seen = { servers: [], calls: [] };
  const took = (message: unknown): void => {
    seen.servers.push(message as Seen["servers"][number]);
  };
  const sent = (message: unknown): void => {
    seen.calls.push((message as { request: ClientRequest }).request);
  };
  subscribe("http.server.request.start", took);
  subscribe("http.client.request.start", sent);
  closeLater(() => {
    unsubscribe("http.server.request.start", took);
    unsubscribe("http.client.request.start", sent);
  });
  return seen;
}
