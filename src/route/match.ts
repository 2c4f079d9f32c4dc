import { type RawHeaders, valuesOf } from "../http/headers.js";
import type { Route, Wanted } from "./route.js";
import { hasPrefix } from "./prefix.js";

/** What a route is chosen by. */
export interface RequestFacts {
  /** The port that the client came in by. */
  readonly port: number;
  /** The request target as the client sent it. */
  readonly target: string;
  readonly headers: RawHeaders;
}

/** How one route was passed over: what of its match did not hold; undefined for the one that was taken. */
export interface MatchStep {
  readonly name: string;
  readonly failed: string | undefined;
}

/** The first route, in written order, whose every condition holds; undefined when there is none, which means passthrough. */
export function matchRoute(routes: readonly Route[], facts: RequestFacts): Route | undefined {
  return routes.find((route) => failedCondition(route, facts) === undefined);
}

/**
 * The same choice as `matchRoute`, and why each route before it was passed over.
 *
 * @param isSecret - whether the values of the header of this name, wanted and sent, must not be told.
 */
export function explainMatch(
  routes: readonly Route[],
  facts: RequestFacts,
  isSecret: (name: string) => boolean = () => false,
): { readonly route: Route | undefined; readonly steps: readonly MatchStep[] } {
  const steps: MatchStep[] = [];
  for (const route of routes) {
    const failed = failedCondition(route, facts, isSecret);
    steps.push({ name: route.name, failed });
    if (failed === undefined) return { route, steps };
  }
  return { route: undefined, steps };
}

function failedCondition(
  { match }: Route,
  facts: RequestFacts,
  isSecret?: (name: string) => boolean,
): string | undefined {
  if (match.port !== undefined && match.port !== facts.port) {
    return `port is ${facts.port}, not ${match.port}`;
  }
  if (match.pathPrefix !== undefined && !hasPrefix(facts.target, match.pathPrefix)) {
    return `the path does not begin with ${match.pathPrefix}/`;
  }
  for (const [name, wanted] of match.header ?? []) {
    const failed = failedHeader(facts.headers, name, wanted, isSecret?.(name));
    if (failed !== undefined) return failed;
  }
  return match.userAgent && failedHeader(facts.headers, "user-agent", match.userAgent);
}

/** A pattern may take the square of a text's length, and a client may send 64 KiB. */
const MOST_MATCHED = 8192;

/** A doubled header matches nothing: who sends two values has not said which one is meant. */
function failedHeader(
  headers: RawHeaders,
  name: string,
  wanted: Wanted,
  isSecret = false,
): string | undefined {
  const [value, ...more] = valuesOf(headers, name);
  if (value === undefined) return `there is no ${name} header`;
  if (more.length > 0) return `the ${name} header was sent ${more.length + 1} times`;
  if (typeof wanted === "string") {
    if (value === wanted) return undefined;
    return isSecret
      ? `the value of ${name} is another one`
      : `${name} is "${value}", not "${wanted}"`;
  }
  if (value.length > MOST_MATCHED) {
    return `${name} is longer than the ${MOST_MATCHED} characters that a pattern is tried on`;
  }
  if (wanted.test(value)) return undefined;
  return isSecret
    ? `the value of ${name} is not matched`
    : `${name} "${value}" is not matched by ${wanted.source}`;
}
