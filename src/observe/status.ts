import type { Route } from "../route/route.js";
import type { Monitor, Watched } from "./monitor.js";
import type { Readings } from "./readings.js";
import type { RecentRecord } from "./recent.js";
import type { Slot } from "./slots.js";

/** One route as `/status` shows it. Counts are since the start. */
export interface RouteStatus {
  readonly name: string;
  readonly mode: Route["mode"];
  readonly translation: Route["translation"] | undefined;
  readonly ramp: Route["ramp"] | undefined;
  /** Requests that were served to their end, and those whose client left. */
  readonly requests: number;
  readonly aborted: number;
  readonly answers: {
    readonly scored: number;
    readonly masked: number;
    readonly unknown: number;
    readonly uninspectable: number;
  };
  readonly translated: number;
  /** Masked answers that were let through, by why. */
  readonly letThrough: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  /** The alert's window. */
  readonly window: { readonly answers: number; readonly masked: number; readonly share: number };
  /** When the storm that rages began, ISO 8601. */
  readonly stormSince: string | undefined;
}

/** What `/status` says. */
export interface Status {
  readonly version: string;
  readonly startedAt: string;
  readonly uptimeSeconds: number;
  readonly upstream: string;
  readonly draining: boolean;
  readonly inFlight: number;
  readonly heldBytes: number;
  readonly holdMemoryBytes: number;
  readonly spilledBytes: number;
  readonly alert: {
    readonly maskedShare: number;
    readonly minAnswers: number;
    readonly windowMs: number;
  };
  readonly audit: { readonly written: number; readonly lost: number } | undefined;
  readonly routes: readonly RouteStatus[];
  /** The last 200 masked answers that were translated and the last 200 that were let through, the newest first. */
  readonly recent: readonly RecentRecord[];
}

/** A slot of a route's history: when it began, what was answered, and the kinds of what was masked. */
export type HistoryPoint = readonly [
  start: number,
  answers: number,
  masked: number,
  translated: number,
  kinds: Readonly<Record<string, number>>,
];

/** Everything as it stands now; of the last masked answers only those with an id above `after`. */
export function statusOf(monitor: Monitor, readings: Readings, after = 0): Status {
  const { startedAt, alert } = readings;
  const { maskedShare, minAnswers, windowMs } = alert;
  const { audit } = monitor;
  return {
    version: readings.version,
    startedAt: startedAt.toISOString(),
    uptimeSeconds: Math.round((Date.now() - startedAt.getTime()) / 1000),
    upstream: readings.upstream,
    draining: readings.isDraining(),
    inFlight: readings.inFlight(),
    heldBytes: readings.heldBytes(),
    holdMemoryBytes: readings.holdMemoryBytes,
    spilledBytes: readings.spilledBytes(),
    alert: { maskedShare, minAnswers, windowMs },
    audit: audit && { written: audit.written, lost: audit.lost },
    routes: routesOf(monitor, readings).map(([watched, route]) => routeStatus(watched, route)),
    recent: monitor.recent.after(after),
  };
}

/** The last hour of each route, by name and mode; only slots that began at `since` or later. */
export function historyOf(
  monitor: Monitor,
  since = 0,
): { readonly name: string; readonly mode: string; readonly points: readonly HistoryPoint[] }[] {
  return [...monitor.watched].map(({ tally: { name, mode }, history }) => {
    history.advance(Date.now());
    return { name, mode, points: history.slots.filter(({ start }) => start >= since).map(pointOf) };
  });
}

function pointOf({ start, answers, masked, translated, kinds }: Slot): HistoryPoint {
  return [start, answers, masked, translated, Object.fromEntries(kinds)];
}

/** The configured routes in their order, then those that had requests under an earlier configuration or under none. */
function routesOf(monitor: Monitor, readings: Readings): [Watched, Route | undefined][] {
  const now = new Map(readings.routes().map((route) => [monitor.of(route), route]));
  const before = [...monitor.watched].filter((watched) => !now.has(watched));
  return [...now, ...before.map((watched): [Watched, undefined] => [watched, undefined])];
}

function routeStatus({ tally, storm }: Watched, route: Route | undefined): RouteStatus {
  const sum = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0);
  const count = (wanted: Partial<(typeof tally.answers)[number]>): number =>
    sum(
      tally.answers
        .filter((sort) => Object.entries(wanted).every(([k, v]) => sort[k as "kind"] === v))
        .map((sort) => sort.count),
    );
  const masked = tally.answers.filter(({ verdict }) => verdict === "masked");
  const by = (name: "kind" | "because"): Record<string, number> =>
    Object.fromEntries(
      [...new Set(masked.map((sort) => sort[name]))]
        .filter((value) => value !== "")
        .map((value) => [value, count({ verdict: "masked", [name]: value })]),
    );
  const { since } = storm;
  const { answers, masked: inWindow, share } = storm.window(Date.now());
  return {
    name: tally.name,
    mode: tally.mode,
    translation: tally.mode === "passthrough" ? undefined : route?.translation,
    ramp: tally.mode === "strict" ? route?.ramp : undefined,
    requests: sum(tally.statuses.values()),
    aborted: tally.aborted,
    answers: {
      scored: tally.scored.count,
      masked: count({ verdict: "masked" }),
      unknown: tally.unknown.count,
      uninspectable: count({ verdict: "uninspectable" }),
    },
    translated: count({ verdict: "masked", decision: "translate" }),
    letThrough: by("because"),
    kinds: by("kind"),
    errors: Object.fromEntries(tally.errors),
    window: { answers, masked: inWindow, share: Math.round(share * 1000) / 1000 },
    stormSince: since === undefined ? undefined : new Date(since).toISOString(),
  };
}
