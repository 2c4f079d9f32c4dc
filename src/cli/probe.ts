import { performance } from "node:perf_hooks";
import type { Client } from "undici";
import type { UpstreamAddress } from "../config/upstream.js";
import { ownClient } from "../proxy/own-client.js";

/** How long each question may take, in milliseconds: a server that lives answers `GET /` at once. */
const PATIENCE_MS = 5000;

/** What a server said to `GET` for one path. */
export interface Probed {
  readonly status: number;
  /** The answer's `Server` field, which names the program. */
  readonly server: string | undefined;
  readonly latencyMs: number;
}

/** What asking the upstream showed. */
export type Probe =
  | { readonly reachable: false; readonly error: string }
  | ({ readonly reachable: true; readonly verifyPaths: readonly ProbedPath[] } & Probed);

/** Whether the server knows a verify path: only a POST would be one, so a `GET` for it is refused as a method (405). */
export interface ProbedPath {
  readonly path: string;
  readonly status: number | undefined;
  readonly known: boolean;
}

/**
 * Asks the upstream for `/` and for each verify path with GET, which changes nothing there. Never rejects: what does not answer is not reachable.
 */
export async function probe(
  upstream: UpstreamAddress,
  verifyPaths: readonly string[],
): Promise<Probe> {
  const client = ownClient(upstream, PATIENCE_MS);
  try {
    await get(client, "/");
    // The second one tells the latency of the server without that of connecting.
    const root = await get(client, "/");
    const paths: ProbedPath[] = [];
    // One after the other, so that the latency above is not that of a queue.
    for (const path of verifyPaths) {
      const status = await get(client, path).then(
        (answer) => answer.status,
        () => undefined,
      );
      paths.push({ path, status, known: status === 405 });
    }
    return { reachable: true, ...root, verifyPaths: paths };
  } catch (error) {
    return { reachable: false, error: said(error) };
  } finally {
    await client.destroy();
  }
}

/** Whether the upstream gives any HTTP answer at all to `GET /`. Never rejects. */
export async function answers(upstream: UpstreamAddress): Promise<boolean> {
  const client = ownClient(upstream, PATIENCE_MS);
  try {
    await get(client, "/");
    return true;
  } catch {
    return false;
  } finally {
    await client.destroy();
  }
}

async function get(client: Client, path: string): Promise<Probed> {
  const start = performance.now();
  const { statusCode, headers, body } = await client.request({ method: "GET", path });
  const latencyMs = Math.round((performance.now() - start) * 10) / 10;
  await body.dump();
  const { server } = headers;
  return {
    status: statusCode,
    server: Array.isArray(server) ? server.join(", ") : server,
    latencyMs,
  };
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors.map(said).join("; ") : "";
  return error.message || inner || error.name;
}
