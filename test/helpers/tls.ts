import { once } from "node:events";
import { readFileSync } from "node:fs";
import https from "node:https";
import type { RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { closeLater } from "./closing.js";

/** The path of a file in test/fixtures/tls. */
export function tlsFile(name: string): string {
  return fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
}

/** What a file in test/fixtures/tls holds. */
export function pem(name: string): string {
  return readFileSync(tlsFile(name), "latin1");
}

/** Starts a node:https server on loopback that shows the certificate `name`; the url says `localhost`. */
export async function startTlsUpstream(
  name: string,
  handler: RequestListener,
): Promise<{ readonly url: string; readonly port: number; readonly server: https.Server }> {
  const options = { cert: pem(`${name}.pem`), key: pem(`${name}-key.pem`) };
  const server = https.createServer(options, handler).listen(0, "127.0.0.1");
  await once(server, "listening");
  closeLater(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `https://localhost:${address.port}`, port: address.port, server };
}
