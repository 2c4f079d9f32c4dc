import type { Route } from "../route/route.js";
import type { UpstreamAddress } from "./upstream.js";

/** The levels that `--log-level` takes, least to most severe, then none at all. */
export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** The files of a certificate and its key, in PEM form. */
export interface ListenTls {
  readonly cert: string;
  readonly key: string;
}

/** Where clients come in. */
export interface Listen {
  readonly host: string;
  readonly port: number;
  /** Clients speak TLS there. */
  readonly tls?: ListenTls;
}

/** The listener for operators. */
export interface Admin extends Listen {
  /** What `Authorization: Bearer` must give; undefined where nobody is asked. */
  readonly token: string | undefined;
}

/** When many masked answers on a route are a storm. */
export interface Alert {
  /** Above 0, up to 1. */
  readonly maskedShare: number;
  /** How many answers the window must hold before a storm can begin. */
  readonly minAnswers: number;
  readonly windowMs: number;
  /** Where each beginning and end is posted. */
  readonly webhook: string | undefined;
}

/** The record of masked answers. */
export interface Audit {
  readonly file: string;
  readonly maxBytes: number;
  /** How many older files are kept. */
  readonly keep: number;
}

/** Everything that was configured, checked and frozen. */
export interface Config {
  readonly upstream: UpstreamAddress;
  /** The file with the authorities that an https upstream's certificate may come from; undefined: those that Node knows. */
  readonly upstreamCa: string | undefined;
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
  /** How many processes serve clients; 1 is this one alone. */
  readonly workers: number;
  /** Undefined: nothing listens for operators. */
  readonly admin: Admin | undefined;
  readonly alert: Alert;
  /** Undefined: no record is kept. */
  readonly audit: Audit | undefined;
}
