import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Monitor, ReloadOutcome, TimeKeeper, Watched } from "./monitor.js";
import { processesText } from "./process-metrics.js";
import type { Readings } from "./readings.js";

/** From a millisecond to an hour: a verify may take that long. */
const DURATION_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
  1800, 3600,
];

type Labels = Readonly<Record<string, string | number>>;
type Sample = readonly [labels: Labels, value: number];

const ROUTE = ["route", "mode"] as const;

/** The metrics of a proxy in the text format of Prometheus. */
export interface Metrics {
  readonly contentType: string;
  /** Every metric as it stands now. */
  text(): Promise<string>;
}

/**
 * The metrics of a proxy. All counters are plain numbers elsewhere and are read when somebody asks; only durations are taken as requests end.
 * Labels: `route` and `mode`; `http_response_status_code` and `error_type` are OpenTelemetry's names; `kind` has a fixed vocabulary, and no label
 * ever holds a reason, a path or an id.
 */
export function createMetrics(monitor: Monitor, readings: Readings): Metrics {
  const registry = new Registry();
  monitor.onTimes = durations(registry);
  counters(registry, monitor);
  gauges(registry, monitor, readings);
  const { processes } = readings;
  if (processes === undefined) collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    text: async () => {
      // A route counts from 0: a counter that appears with its first event hides that event from rate().
      for (const route of readings.routes()) monitor.of(route);
      const own = await registry.metrics();
      return processes === undefined ? own : `${own}\n${await processesText(await processes())}`;
    },
  };
}

function durations(registry: Registry): TimeKeeper {
  const histogram = (name: string, help: string): Histogram<(typeof ROUTE)[number]> =>
    new Histogram({
      name,
      help,
      labelNames: ROUTE,
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
  const upstream = histogram(
    "maskgate_upstream_duration_seconds",
    "Time until the upstream's answer was there (held) or began (streamed).",
  );
  const total = histogram(
    "maskgate_request_duration_seconds",
    "Time until nothing was left of a request.",
  );
  const resolved = new WeakMap<
    Watched,
    { readonly upstream: Histogram.Internal<string>; readonly total: Histogram.Internal<string> }
  >();
  return (watched, upstreamMs, totalMs) => {
    let of = resolved.get(watched);
    if (of === undefined) {
      const { name, mode } = watched.tally;
      of = { upstream: upstream.labels(name, mode), total: total.labels(name, mode) };
      resolved.set(watched, of);
    }
    if (upstreamMs > 0) of.upstream.observe(upstreamMs / 1000);
    of.total.observe(totalMs / 1000);
  };
}

/** A way to declare metrics of one type whose values are read from elsewhere when somebody asks. */
const readAs =
  (Type: typeof Counter | typeof Gauge) =>
  (
    registry: Registry,
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Iterable<Sample>,
  ): void => {
    const metric = new Type({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.inc(labels, value);
      },
    });
    registry.registerMetric(metric);
  };

const counter = readAs(Counter);
const gauge = readAs(Gauge);

function counters(registry: Registry, monitor: Monitor): void {
  const perRoute = (
    name: string,
    help: string,
    more: readonly string[],
    read: (watched: Watched) => Iterable<Sample>,
  ): void =>
    counter(registry, name, help, [...ROUTE, ...more], function* samples() {
      for (const watched of monitor.watched) {
        const of = { route: watched.tally.name, mode: watched.tally.mode };
        for (const [labels, value] of read(watched)) yield [{ ...of, ...labels }, value];
      }
    });

  perRoute(
    "maskgate_requests_total",
    "Requests that were served to their end.",
    ["http_response_status_code"],
    ({ tally }) =>
      [...tally.statuses].map(([status, n]) => [{ http_response_status_code: status }, n]),
  );
  perRoute(
    "maskgate_requests_aborted_total",
    "Requests whose client left before it had everything, or whose upstream broke off in the middle.",
    [],
    ({ tally }) => [[{}, tally.aborted]],
  );
  perRoute(
    "maskgate_answers_total",
    "Verify answers that were looked at, by what was found in them and what was made of it.",
    ["verdict", "signal", "kind", "decision", "because"],
    ({ tally }) => tally.sorts.map(({ count, ...labels }) => [labels, count]),
  );
  perRoute(
    "maskgate_upstream_errors_total",
    "Failures of the way to the upstream, and answers that nobody could check.",
    ["error_type"],
    ({ tally }) => [...tally.errors].map(([code, n]) => [{ error_type: code }, n]),
  );
  perRoute("maskgate_mask_storms_total", "Mask storms that began.", [], ({ storm }) => [
    [{}, storm.begun],
  ]);
  counter(
    registry,
    "maskgate_config_reloads_total",
    "How often the configuration was read anew.",
    ["outcome"],
    () =>
      (Object.entries(monitor.reloads) as [ReloadOutcome, number][]).map(([outcome, n]) => [
        { outcome },
        n,
      ]),
  );
  const { audit } = monitor;
  if (audit === undefined) return;
  counter(
    registry,
    "maskgate_audit_lines_total",
    "Masked answers that are in the audit file.",
    [],
    () => [[{}, audit.written]],
  );
  counter(
    registry,
    "maskgate_audit_lost_lines_total",
    "Masked answers that no disk took.",
    [],
    () => [[{}, audit.lost]],
  );
}

function gauges(registry: Registry, monitor: Monitor, readings: Readings): void {
  const single = (name: string, help: string, read: () => number): void =>
    gauge(registry, name, help, [], () => [[{}, read()]]);
  single("maskgate_requests_in_flight", "Requests in flight.", () => readings.inFlight());
  single("maskgate_held_bytes", "What held answers take of memory.", () => readings.heldBytes());
  single(
    "maskgate_hold_memory_limit_bytes",
    "The most that held answers take of memory.",
    () => readings.holdMemoryBytes,
  );
  counter(
    registry,
    "maskgate_spilled_bytes_total",
    "What of held answers went to temporary files.",
    [],
    () => [[{}, readings.spilledBytes()]],
  );
  single("maskgate_draining", "1 while what is in flight may finish before the end.", () =>
    Number(readings.isDraining()),
  );
  gauge(
    registry,
    "maskgate_config_last_reload_successful",
    "0 when the last configuration that was read was refused.",
    [],
    () => [[{}, Number(monitor.lastReload?.outcome !== "refused")]],
  );
  gauge(registry, "maskgate_build_info", "1, with the version.", ["version"], () => [
    [{ version: readings.version }, 1],
  ]);
  gauge(
    registry,
    "maskgate_ramp_percentage",
    "How far strictness is switched on, from 0 to 100.",
    ["route"],
    () =>
      readings
        .routes()
        .filter(({ mode }) => mode === "strict")
        .map(({ name, ramp }) => [{ route: name }, ramp.percentage]),
  );
  storms(registry, monitor);
}

function storms(registry: Registry, monitor: Monitor): void {
  gauge(registry, "maskgate_mask_storm", "1 while a mask storm rages.", ROUTE, () =>
    [...monitor.watched].map(({ tally: { name, mode }, storm }) => [
      { route: name, mode },
      Number(storm.since !== undefined),
    ]),
  );
  gauge(
    registry,
    "maskgate_masked_ratio",
    "The masked share of the answers in the alert's window, from 0 to 1.",
    ROUTE,
    () =>
      [...monitor.watched].map(({ tally: { name, mode }, storm }) => [
        { route: name, mode },
        storm.window(Date.now()).share,
      ]),
  );
}
