import type { Config, Listen } from "../config/config.js";
import type { Loaded } from "../config/load.js";
import { plainRoute } from "../config/plain.js";
import { printable } from "../printable.js";
import type { Route } from "../route/route.js";
import { doubtsAbout } from "./doubts.js";
import type { Probe } from "./probe.js";
import type { Sample } from "./sample.js";

/** Everything that `check` found. */
export interface Checked {
  readonly loaded: Loaded;
  readonly upstream: Probe;
  readonly sample: Sample | undefined;
}

/** The findings of `check` for people, a line each, fit for a terminal. */
export function checkLines({ loaded, upstream, sample }: Checked): string[] {
  const { config, sources } = loaded;
  const rows = VALUES.map((key) => [key, valueText(config, key), `(${sources[key]})`] as const);
  const [names, values] = [0, 1].map((i) => Math.max(...rows.map((row) => row[i as 0 | 1].length)));
  return [
    "configuration",
    ...rows.map(
      ([key, value, from]) => `  ${key.padEnd(names!)}  ${value.padEnd(values!)}  ${from}`,
    ),
    "",
    `routes, the first that matches wins (${sources.routes})`,
    ...config.routes.map((route, i) => `  ${i + 1}. ${routeText(route)}`),
    `  ${config.routes.length + 1}. everything else: passthrough`,
    ...doubtsAbout(config.routes).map((says) => `  warning: ${says}`),
    "",
    "upstream",
    ...probeLines(loaded, upstream).map((line) => `  ${line}`),
    ...(sample === undefined ? [] : ["", ...sampleLines(sample)]),
  ].map(printable);
}

const VALUES = [
  "upstream",
  "upstreamCa",
  "listen",
  "verifyPaths",
  "connectRetryMs",
  "upstreamTimeoutMs",
  "maxAnswerBytes",
  "holdMemoryBytes",
  "drainMs",
  "workers",
  "logLevel",
  "admin",
  "alert",
  "audit",
] as const satisfies readonly (keyof Config)[];

function valueText(config: Config, key: (typeof VALUES)[number]): string {
  if (key === "upstream") return config.upstream.url;
  if (key === "verifyPaths") return config.verifyPaths.join(", ");
  if (key === "listen") {
    return config.listen
      .map((door) => `${addressText(door)}${door.tls === undefined ? "" : " (TLS)"}`)
      .join(", ");
  }
  if (key === "upstreamCa") return config.upstreamCa ?? "those that Node knows";
  if (key === "admin") return adminText(config.admin);
  if (key === "alert" || key === "audit") return config[key] ? optionText(config[key]) : "off";
  return String(config[key]);
}

function adminText(admin: Config["admin"]): string {
  if (admin === undefined) return "off";
  return `${addressText(admin)}, ${admin.token === undefined ? "open to whoever reaches it" : "with a token"}`;
}

function addressText({ host, port }: Listen): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function routeText(route: Route): string {
  const { name, match = {}, mode, ...rest } = plainRoute(route);
  const { header = {}, ...others } = match;
  const conditions = [
    ...Object.entries(others).map(([key, value]) => `${key} ${value}`),
    ...Object.entries(header).map(([key, value]) => `${key}: ${headerText(value)}`),
  ];
  const options = Object.entries(rest).flatMap(([key, value]) =>
    Array.isArray(value) && value.length === 0 ? [] : `${key} ${optionText(value)}`,
  );
  const who = conditions.length === 0 ? "every request" : conditions.join(" and ");
  return [`${name}: ${mode} for ${who}`, ...options].join("; ");
}

function headerText(value: string | { readonly matches: string }): string {
  return typeof value === "string" ? value : `matching ${value.matches}`;
}

function optionText(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(optionText).join(", ");
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => `${key} ${String(inner)}`)
    .join(" ");
}

function probeLines({ config: { upstream }, sources }: Loaded, probe: Probe): string[] {
  if (!probe.reachable) {
    return [
      `${upstream.url} does not answer: ${probe.error}`,
      `start the resources server there, or name where it listens (upstream is from ${sources.upstream})`,
    ];
  }
  const { status, latencyMs, server, verifyPaths } = probe;
  return [
    `${upstream.url} answers GET / with ${status} after ${latencyMs} ms (server: ${server ?? "says nothing"})`,
    ...verifyPaths.map(({ path, status: got, known }) =>
      known
        ? `${path} is there (GET is refused with 405, as a path for POST alone is)`
        : `${path} may not be there: GET is answered with ${got ?? "nothing"}, where 405 was expected`,
    ),
  ];
}

function sampleLines(sample: Sample): string[] {
  const { method, target, port, steps, route, mode, upstreamTarget, isVerify, effect } = sample;
  return [
    `sample request: ${method} ${target} on port ${port}`,
    ...steps.map(({ name, failed }, i) => `  ${i + 1}. ${name}: ${failed ?? "takes it"}`),
    ...(route === undefined ? [`  ${steps.length + 1}. everything else: takes it`] : []),
    `  the upstream is asked for ${upstreamTarget}, which is ${isVerify ? "a" : "no"} verify request`,
    `  ${mode}: ${effect}`,
  ];
}
