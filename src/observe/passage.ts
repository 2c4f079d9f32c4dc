import type { RawHeaders } from "../http/headers.js";
import type { Verdict } from "../mask/verdict.js";
import type { Decision } from "../route/decide.js";
import type { Mode, Route, Translation } from "../route/route.js";
import type { VerifyPath } from "../route/verify-path.js";

/** One request of a client, as far as it is watched: read when something has become of it, and never kept. */
export interface Passage {
  readonly route: Route;
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
