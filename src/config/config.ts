import type { Route } from "../route/route.js";
import type { UpstreamAddress } from "./upstream.js";

/** The levels that `--log-level` takes, least to most severe, then none at all. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where clients come in. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

/** Everything that was configured, checked and frozen. */
export interface Config {
  readonly upstream: UpstreamAddress;
  readonly listen: readonly Listen[];
  /** In written order, the first match wins; what none of them matches is passthrough. */
  readonly routes: readonly Route[];
  /** The paths whose answers carry a reward; also behind `/ng-rollout/<id>`. */
  readonly verifyPaths: readonly string[];
  /** How long a request that meets a closed port is tried again, in milliseconds (never GET and HEAD). */
  readonly connectRetryMs: number;
  /** How long the upstream may take until its header is there, in milliseconds; 0 is for ever. */
  readonly upstreamTimeoutMs: number;
  /** The largest answer that is held to be judged, in bytes; a larger one is a 502 on a strict route. */
  readonly maxAnswerBytes: number;
  /** How much of all held answers together stays in memory, in bytes; the rest goes to temporary files. */
  readonly holdMemoryBytes: number;
  /** How long requests in flight may take after the first SIGTERM or SIGINT, in milliseconds. */
  readonly drainMs: number;
  readonly logLevel: LogLevel;
}
