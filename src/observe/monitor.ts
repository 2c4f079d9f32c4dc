import type { Alert } from "../config/config.js";
import type { ErrorCode } from "../errors.js";
import { statusOf } from "../http/failure.js";
import { taskOf } from "../route/key.js";
import type { Mode } from "../route/route.js";
import type { Audit } from "./audit.js";
import { correlationOf } from "./correlation.js";
import { kept } from "./kept.js";
import { kindLabel } from "./kinds.js";
import { type Logger, logEvent, loggedPath } from "./log.js";
import {
  type Finding,
  type MaskedRecord,
  MAX_KIND,
  MAX_REASON,
  type Passage,
  type WatchedRoute,
  type Witness,
} from "./passage.js";
import { createHistory, Recent } from "./recent.js";
import type { CountedMask, Slots } from "./slots.js";
import { type StormReport, StormWatch, stormText } from "./storm.js";
import { RouteTally } from "./tally.js";

/** What is told to a webhook: the report, and a sentence under the name that chat programs read. */
export interface StormMessage extends StormReport {
  readonly event: "mask_storm" | "mask_storm_over";
  readonly text: string;
  readonly route: string;
  readonly mode: Mode;
  readonly time: string;
}

/** Takes the durations of a request, in milliseconds; `upstreamMs` is 0 where the upstream gave no answer. */
export type TimeKeeper = (watched: Watched, upstreamMs: number, totalMs: number) => void;

/** What is known of one route, over all configurations in which it had this name and mode. */
export interface Watched {
  readonly tally: RouteTally;
  readonly storm: StormWatch;
  readonly history: Slots;
}

export type ReloadOutcome = "applied" | "unchanged" | "refused";

export interface MonitorParts {
  readonly log: Logger;
  readonly alert: Alert;
  readonly audit?: Audit | undefined;
  /** Whether somebody can ask for the last masked answers and the last hour. */
  readonly remembers: boolean;
  /** Told of each beginning and end of a storm. Must not throw or wait. */
  readonly onStorm?: ((message: StormMessage) => void) | undefined;
}

const MAX_SHOWN = 200;
const STORM_CHECK_MS = 1000;

/** Counts everything that happens to requests. */
export class Monitor implements Witness {
  readonly recent = new Recent();
  readonly reloads: Record<ReloadOutcome, number> = { applied: 0, unchanged: 0, refused: 0 };
  lastReload: { readonly outcome: ReloadOutcome; readonly time: number } | undefined;
  readonly audit: Audit | undefined;
  /** Set by whoever keeps histograms. */
  onTimes: TimeKeeper | undefined;
  readonly #parts: MonitorParts;
  readonly #watched = new Map<string, Watched>();
  readonly #byRoute = new WeakMap<WatchedRoute, Watched>();
  #stormCheck: NodeJS.Timeout | undefined;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
    this.audit = parts.audit;
  }

  get wantsIds(): boolean {
    return this.#parts.remembers || this.audit !== undefined;
  }

  /** Every route that had a request, or was asked for. */
  get watched(): Iterable<Watched> {
    return this.#watched.values();
  }

  /** What is known of a route. */
  of(route: WatchedRoute): Watched {
    const known = this.#byRoute.get(route);
    if (known !== undefined) return known;
    const key = JSON.stringify([route.name, route.mode]);
    const watched = this.#watched.get(key) ?? {
      tally: new RouteTally(route),
      storm: new StormWatch(this.#parts.alert),
      history: createHistory(),
    };
    this.#watched.set(key, watched);
    this.#byRoute.set(route, watched);
    return watched;
  }

  judged(passage: Passage, finding: Finding, status: number): void {
    const watched = this.of(passage.route);
    watched.tally.judged(finding);
    const { verdict, decision } = finding;
    if (verdict.verdict === "unknown") return;
    const now = Date.now();
    if (verdict.verdict === "scored") {
      this.#count(watched, now);
      return;
    }
    const kind = kept(verdict.kind, MAX_KIND);
    const translated = decision.decision === "translate";
    this.#count(watched, now, { kind, reason: shown(verdict.reason), translated });
    if (!this.wantsIds) return;
    const record = recordOf(passage, finding, status, new Date(now));
    if (record === undefined) return;
    this.audit?.write(record);
    if (this.#parts.remembers) {
      this.recent.add({ ...record, reason: shown(record.reason) });
    }
  }

  failed({ route, verify }: Passage, code: ErrorCode): void {
    const { tally } = this.of(route);
    tally.failed(code);
    if (verify !== undefined && statusOf(code).verdict === "uninspectable") tally.unread();
  }

  ended(passage: Passage, status: number | undefined): void {
    const watched = this.of(passage.route);
    watched.tally.ended(status);
    this.onTimes?.(watched, passage.upstreamMs, passage.elapsedMs());
  }

  /** The configuration was read anew. */
  reloaded(outcome: ReloadOutcome): void {
    this.reloads[outcome] += 1;
    this.lastReload = { outcome, time: Date.now() };
  }

  /** Ends what runs by itself, once the audit is written. */
  async close(): Promise<void> {
    clearInterval(this.#stormCheck);
    this.#stormCheck = undefined;
    await this.audit?.close();
  }

  #count(watched: Watched, now: number, mask?: CountedMask): void {
    if (this.#parts.remembers) {
      watched.history.add(now, mask && { kind: kindLabel(mask.kind), translated: mask.translated });
    }
    this.#tell(watched, watched.storm.add(now, mask), now);
  }

  #tell(watched: Watched, report: StormReport | undefined, now: number): void {
    if (report === undefined) return;
    const { name: route, mode } = watched.tally;
    const event = report.state === "begun" ? "mask_storm" : "mask_storm_over";
    const text = stormText(route, report);
    const level = report.state === "begun" ? "error" : "warn";
    logEvent(this.#parts.log, level, event, { route, mode, ...report }, text);
    this.#parts.onStorm?.({
      event,
      text,
      route,
      mode,
      time: new Date(now).toISOString(),
      ...report,
    });
    this.#stormCheck ??= setInterval(() => this.#checkStorms(), STORM_CHECK_MS).unref();
  }

  /** A storm is also over when nothing more is answered, which no answer would tell. */
  #checkStorms(): void {
    const now = Date.now();
    const raging = [...this.#watched.values()].filter(({ storm }) => storm.since !== undefined);
    for (const watched of raging) this.#tell(watched, watched.storm.check(now), now);
    if (raging.some(({ storm }) => storm.since !== undefined)) return;
    clearInterval(this.#stormCheck);
    this.#stormCheck = undefined;
  }
}

/** A reason on one line, cut. */
function shown(reason: string): string {
  return kept(reason.slice(0, MAX_REASON).replace(/\s+/g, " ").trim(), MAX_SHOWN);
}

function recordOf(
  passage: Passage,
  { verdict, decision, task, session }: Finding,
  status: number,
  time: Date,
): MaskedRecord | undefined {
  if (verdict.verdict !== "masked") return undefined;
  const { route, request, verify, answerBytes, upstreamMs } = passage;
  const translated = decision.decision === "translate";
  return {
    time: time.toISOString(),
    route: route.name,
    mode: route.mode,
    decision: decision.decision,
    because: translated ? undefined : decision.because,
    translation: translated ? route.translation : undefined,
    status,
    signal: verdict.signal,
    kind: verdict.kind.slice(0, MAX_KIND),
    reason: verdict.reason.slice(0, MAX_REASON),
    task: (task ?? taskOf(verify?.rolloutId ?? ""))?.slice(0, MAX_SHOWN),
    rollout: verify?.rolloutId?.slice(0, MAX_SHOWN),
    session,
    path: loggedPath(request.url ?? ""),
    answerBytes,
    upstreamMs,
    totalMs: passage.elapsedMs(),
    ...correlationOf(request.rawHeaders),
  };
}
