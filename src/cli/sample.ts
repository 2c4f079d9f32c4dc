import { InvalidArgumentError } from "commander";
import type { Config } from "../config/config.js";
import { globOf } from "../config/patterns.js";
import { isSecret } from "../config/secrets.js";
import { ProxyError } from "../errors.js";
import { explainMatch, type MatchStep } from "../route/match.js";
import { cutPrefix } from "../route/prefix.js";
import type { Mode, Route } from "../route/route.js";
import { verifyPath } from "../route/verify-path.js";

/** A request that somebody asks about. */
export interface SampleFlags {
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly userAgent?: string | undefined;
  readonly port?: string | undefined;
}

/** What would become of it. */
export interface Sample {
  readonly port: number;
  readonly method: string;
  readonly target: string;
  /** Each route that was tried, in written order, up to the one that takes the request. */
  readonly steps: readonly MatchStep[];
  /** Undefined when none takes it, which is passthrough. */
  readonly route: string | undefined;
  readonly mode: Mode;
  /** What the upstream is asked for. */
  readonly upstreamTarget: string;
  readonly isVerify: boolean;
  /** What the client gets, as a sentence. */
  readonly effect: string;
}

/** The route of the request that the flags describe; undefined when they describe none. */
export function explainSample(config: Config, flags: SampleFlags): Sample | undefined {
  if (Object.values(flags).every((value) => value === undefined)) return undefined;
  const { path: target = "/verify", method = "POST", header = [], userAgent } = flags;
  const port = samplePort(config, flags.port);
  const headers = header.flatMap(field);
  if (userAgent !== undefined) headers.push("user-agent", userAgent);
  const { route, steps } = explainMatch(config.routes, { port, target, headers }, isSecret);
  const prefix = route?.match.pathPrefix;
  const upstreamTarget = prefix === undefined ? target : cutPrefix(target, prefix);
  const isVerify =
    method === "POST" && verifyPath(upstreamTarget, config.verifyPaths) !== undefined;
  return {
    port,
    method,
    target,
    steps,
    route: route?.name,
    mode: route?.mode ?? "passthrough",
    upstreamTarget,
    isVerify,
    effect: effectOf(route, isVerify),
  };
}

/** A header as it is typed, checked: `x-client: canary`. */
export function parseHeader(text: string, before: readonly string[] = []): string[] {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+\s*:/.test(text)) {
    throw new InvalidArgumentError("It must be NAME: VALUE.");
  }
  return [...before, text];
}

/** A request target as it is typed, checked. */
export function parsePath(text: string): string {
  if (!/^\/[\x21-\x7e]*$/.test(text)) {
    throw new InvalidArgumentError("It must begin with a slash and hold no spaces.");
  }
  return text;
}

function field(text: string): [string, string] {
  const colon = text.indexOf(":");
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function samplePort({ listen }: Config, text: string | undefined): number {
  const ports = listen.map(({ port }) => port);
  if (text === undefined) return ports[0]!;
  const port = /^\d+$/.test(text) ? Number(text) : undefined;
  if (port !== undefined && ports.includes(port)) return port;
  throw new ProxyError(
    "CONFIG_INVALID",
    `--port: not a listening port, found "${text}", allowed ${ports.join(", ")}`,
  );
}

function effectOf(route: Route | undefined, isVerify: boolean): string {
  if (route === undefined || route.mode === "passthrough") {
    return "the answer is passed on unchanged and never inspected";
  }
  if (!isVerify) return "the answer is passed on unchanged: this is no verify request";
  if (route.mode === "observe") return "the answer is passed on unchanged; a mask is logged";
  return `a masked answer becomes ${BECOMES[route.translation](route)}${limits(route)}; every other answer is passed on unchanged`;
}

const BECOMES: Readonly<Record<Route["translation"], (route: Route) => string>> = {
  error: ({ status }) => `HTTP ${status} with the reason`,
  null: () => "a 200 with reward: null",
  mirror: () => "a 200 with instance_config.mask_sample: true",
  nan: () => "a 200 with reward: NaN",
};

function limits({ ramp, only, except }: Route): string {
  const { percentage, by, salt } = ramp;
  const share = percentage === 100 ? "" : ` for ${percentage} % by ${by}, salt ${salt}`;
  const kinds = [
    only === undefined ? "" : `, only of kind ${only.map(globOf).join(", ")}`,
    except.length === 0 ? "" : `, except of kind ${except.map(globOf).join(", ")}`,
  ].join("");
  return `${share}${kinds}`;
}
