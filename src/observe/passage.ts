import type { ErrorCode } from "../errors.js";
import type { RawHeaders } from "../http/headers.js";
import type { Verdict } from "../mask/verdict.js";
import type { Decision } from "../route/decide.js";
import type { Mode, Route, Translation } from "../route/route.js";
import type { VerifyPath } from "../route/verify-path.js";

/** What of a reason, and of a kind, is kept. */
export const MAX_KIND = 100;
export const MAX_REASON = 2000;

/** What is known of the route that a request took. */
export type WatchedRoute = Pick<Route, "name" | "mode" | "translation">;

/** One request of a client, as far as it is watched: read when something has become of it, and never kept. */
export interface Passage {
  readonly route: WatchedRoute;
  readonly request: {
    readonly method?: string | undefined;
    readonly url?: string | undefined;
    readonly rawHeaders: RawHeaders;
  };
  /** Undefined where the answer is not looked at. */
  readonly verify: VerifyPath | undefined;
  readonly answerBytes: number;
  /** How long the upstream took until its answer was there (held) or began (streamed), in milliseconds; 0 while it has not. */
  readonly upstreamMs: number;
  /** Since the request came, in milliseconds. */
  elapsedMs(): number;
}

/** What was found in an answer and what was made of it. */
export interface Finding {
  readonly verdict: Verdict;
  readonly decision: Decision;
  /** The task that a masked answer belongs to, where somebody asked for it: from the path, else the hash of its row. */
  readonly task?: string | undefined;
  /** The Gym session of a masked answer, hashed, where it has one. */
  readonly session?: string | undefined;
}

/** One masked answer, for the page and the audit: texts are cut, nothing of its body is in it but the reason. */
export interface MaskedRecord {
  /** ISO 8601. */
  readonly time: string;
  readonly route: string;
  readonly mode: Mode;
  readonly decision: Decision["decision"];
  /** Why it was let through. */
  readonly because: string | undefined;
  readonly translation: Translation | undefined;
  /** What the client got. */
  readonly status: number;
  readonly signal: string;
  readonly kind: string;
  readonly reason: string;
  readonly task: string | undefined;
  readonly rollout: string | undefined;
  readonly session: string | undefined;
  readonly path: string;
  readonly answerBytes: number;
  readonly upstreamMs: number;
  readonly totalMs: number;
  readonly traceparent: string | undefined;
  readonly requestId: string | undefined;
}

/** Hears of everything that happens to requests. Nothing of it waits, throws or changes what a client gets. */
export interface Witness {
  /** Whether the task and the session of masked answers are worth finding out. */
  readonly wantsIds: boolean;
  /** An answer was looked at; `status` is what the client got. */
  judged(passage: Passage, finding: Finding, status: number): void;
  /** The way to the upstream failed, or nobody could check the answer. */
  failed(passage: Passage, code: ErrorCode): void;
  /** Nothing is left of a request; `status` is undefined when its client left. */
  ended(passage: Passage, status: number | undefined): void;
}
