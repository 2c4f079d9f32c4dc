import { once } from "node:events";
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { closeLater } from "./closing.js";

/** A node:http server for tests that need nothing of single bytes. */
export interface HttpUpstream {
  readonly url: string;
  readonly server: Server;
}

/** Starts it on a free port of loopback. */
export async function startHttpUpstream(
  handler: RequestListener,
  options: ServerOptions = {},
): Promise<HttpUpstream> {
  const server = createServer(options, handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  closeLater(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, server };
}
