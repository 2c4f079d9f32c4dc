import { performance } from "node:perf_hooks";
import type { UpstreamAddress } from "../config/upstream.js";
import { ownClient } from "./own-client.js";

/** A server that lives answers `GET /` at once. */
const PATIENCE_MS = 2000;
/** How long an answer stands, in milliseconds: several probes ask every few seconds. */
const STANDS_MS = 1000;

/** Statuses by which a proxy in between says that nothing is behind it. */
const NOBODY: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the upstream answers. */
export interface Ready {
  readonly ready: boolean;
  readonly detail: string;
}

/** Asks the upstream for `GET /`, which changes nothing there: at most once at a time, and not again within a second. */
export interface Readiness {
  ask(): Promise<Ready>;
  close(): Promise<void>;
}

/** Any answer counts as one, but for 502, 503 and 504. */
export function createReadiness(upstream: UpstreamAddress): Readiness {
  const client = ownClient(upstream, PATIENCE_MS);
  let asked: Promise<Ready> | undefined;
  let standsUntil = 0;
  const ask = async (): Promise<Ready> => {
    try {
      const { statusCode, body } = await client.request({
        method: "GET",
        path: "/",
        // An idle connection may be closed by the other side at any moment, and would then be taken for a server that has gone.
        reset: true,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await body.dump();
      return { ready: !NOBODY.has(statusCode), detail: `the upstream answers ${statusCode}` };
    } catch (error) {
      return { ready: false, detail: `the upstream does not answer: ${said(error)}` };
    } finally {
      standsUntil = performance.now() + STANDS_MS;
    }
  };
  return {
    ask: () => {
      if (asked === undefined || performance.now() > standsUntil) {
        standsUntil = Number.POSITIVE_INFINITY;
        asked = ask();
      }
      return asked;
    },
    close: () => client.destroy(),
  };
}

function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (error.message || error.name);
}
