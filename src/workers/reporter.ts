import type { ErrorCode } from "../errors.js";
import { correlationOf } from "../observe/correlation.js";
import { loggedPath } from "../observe/log.js";
import {
  type Finding,
  MAX_KIND,
  MAX_REASON,
  type Passage,
  type WatchedRoute,
  type Witness,
} from "../observe/passage.js";
import type { Load, MaskedPassage, Report, Sighting } from "./messages.js";

/** How long counts may wait to be sent together, and how long masked answers and lines of the log, in milliseconds; and how many of them. */
const REPORT_EVERY_MS = 100;
const SOON_MS = 10;
const MOST_SEEN = 4096;

/** Tells another process what happens to requests: counts now and then, masked answers and lines of the log soon. */
export class Reporter implements Witness {
  readonly wantsIds: boolean;
  readonly #send: (report: Report) => void;
  readonly #load: () => Load;
  #seen: Sighting[] = [];
  #lines: string[] = [];
  #later: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(wantsIds: boolean, load: () => Load, send: (report: Report) => void) {
    this.wantsIds = wantsIds;
    this.#load = load;
    this.#send = send;
  }

  judged(passage: Passage, finding: Finding, status: number): void {
    const { verdict } = finding;
    if (verdict.verdict !== "masked") {
      this.#saw([verdict.verdict, keyOf(passage.route)]);
      return;
    }
    const { decision, task, session } = finding;
    const { signal, kind, reason } = verdict;
    // What else belongs to a finding is not for other processes.
    const cut: Finding = {
      verdict: {
        verdict: "masked",
        signal,
        signals: [],
        kind: kind.slice(0, MAX_KIND),
        reason: reason.slice(0, MAX_REASON),
      },
      decision,
      task,
      session,
    };
    this.#saw(["masked", plain(passage), cut, status]);
    this.#soon ??= setTimeout(() => this.flush(), SOON_MS);
  }

  failed({ route, verify }: Passage, code: ErrorCode): void {
    this.#saw(["failed", keyOf(route), code, verify !== undefined]);
  }

  ended(passage: Passage, status: number | undefined): void {
    const { route, upstreamMs } = passage;
    this.#saw(["ended", keyOf(route), status, upstreamMs, passage.elapsedMs()]);
  }

  /** Takes a line of the log. */
  line(line: string): void {
    this.#lines.push(line);
    this.#soon ??= setTimeout(() => this.flush(), SOON_MS);
  }

  /** Sends what there is. */
  flush(): void {
    clearTimeout(this.#later);
    clearTimeout(this.#soon);
    this.#later = undefined;
    this.#soon = undefined;
    const report = { seen: this.#seen, lines: this.#lines, load: this.#load() };
    this.#seen = [];
    this.#lines = [];
    this.#send(report);
  }

  #saw(sighting: Sighting): void {
    this.#seen.push(sighting);
    if (this.#seen.length >= MOST_SEEN) this.flush();
    else this.#later ??= setTimeout(() => this.flush(), REPORT_EVERY_MS);
  }
}

function keyOf({ name, mode }: WatchedRoute): Pick<WatchedRoute, "name" | "mode"> {
  return { name, mode };
}

/** What a record is made from: no token, cookie or body goes to another process. */
function plain(passage: Passage): MaskedPassage {
  const { route, request, verify, answerBytes, upstreamMs } = passage;
  const { traceparent, requestId } = correlationOf(request.rawHeaders);
  return {
    route: { name: route.name, mode: route.mode, translation: route.translation },
    request: {
      method: request.method,
      url: loggedPath(request.url ?? ""),
      rawHeaders: ["traceparent", traceparent ?? "", "x-request-id", requestId ?? ""],
    },
    verify,
    answerBytes,
    upstreamMs,
    totalMs: passage.elapsedMs(),
  };
}
