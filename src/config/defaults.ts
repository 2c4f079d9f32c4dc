import type { Mode, Route } from "../route/route.js";
import type { UpstreamAddress } from "./upstream.js";

/** Everything a proxy is made from; all of it checked already. */
export interface GateConfig {
  readonly upstream: UpstreamAddress;
  readonly host: string;
  readonly port: number;
  readonly route: Route;
  readonly connectRetryMs: number;
  readonly upstreamTimeoutMs: number;
  readonly maxAnswerBytes: number;
}

/** What applies where nothing else was said: one route for everybody, on a port of the system's choice. */
export function defaultConfig(upstream: UpstreamAddress, mode: Mode): GateConfig {
  return {
    upstream,
    host: "127.0.0.1",
    port: 0,
    route: { name: "default", mode, status: 503 },
    connectRetryMs: 30_000,
    upstreamTimeoutMs: 0,
    maxAnswerBytes: 256 * 1024 * 1024,
  };
}
