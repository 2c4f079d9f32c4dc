import { mapValues, type RawHeaders, valuesOf } from "../http/headers.js";
import { cutPrefix } from "./prefix.js";
import type { Route } from "./route.js";

/** What a client asked for: the target as it sent it, and its fields. */
export interface Asked {
  readonly target: string;
  readonly headers: RawHeaders;
}

/**
 * An answer's fields with the route's prefix back in each `Location` that points at the host the client asked, so that no redirect leads around the
 * route: Starlette answers `/verify/` with an absolute 307 made from the Host field (WIRE: measured on nemo-gym 0.7.0). The same array on a route
 * without a prefix, and on a passthrough route, which changes nothing.
 */
export function keepOnRoute({ match, mode }: Route, asked: Asked, answer: RawHeaders): RawHeaders {
  const { pathPrefix } = match;
  if (pathPrefix === undefined || mode === "passthrough") return answer;
  return mapValues(answer, "location", (location) => within(pathPrefix, asked, location));
}

function within(prefix: string, { target, headers }: Asked, location: string): string {
  const found = /^(?:(https?):)?\/\/([^/?#]*)/i.exec(location);
  if (found === null && /^[a-z][a-z0-9+.-]*:/i.test(location)) return location;
  const [origin = "", scheme, authority] = found ?? [];
  if (authority !== undefined && !isHost(authority, scheme, valuesOf(headers, "host")[0])) {
    return location;
  }
  const path = pathOf(location);
  const rest = location.slice(origin.length + path.length);
  if (authority !== undefined || path.startsWith("/")) {
    return `${origin}${prefix}${withoutDots(path)}${rest}`;
  }
  const asked = pathOf(target);
  // Relative to what was asked for, it stays below the prefix by itself, unless it climbs or nothing stood behind the prefix.
  if (path === "" || (withoutDots(path) === path && asked !== prefix)) return location;
  const folder = cutPrefix(asked, prefix).replace(/[^/]*$/, "");
  return `${prefix}${withoutDots(folder + path)}${rest}`;
}

/** The path as it stands in a target or a location: without scheme, authority, query and fragment. */
function pathOf(text: string): string {
  return text.replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

/** Whether the authority of a location is the host that the client named, the usual port said or not. */
function isHost(authority: string, scheme: string | undefined, host: string | undefined): boolean {
  const usual =
    scheme === undefined
      ? /:(?:80|443)?$/
      : scheme.toLowerCase() === "http"
        ? /:(?:80)?$/
        : /:(?:443)?$/;
  const bare = (text: string): string => text.replace(/^.*@/, "").replace(usual, "").toLowerCase();
  return host !== undefined && bare(authority) === bare(host);
}

/**
 * The path with its dot segments taken out, as a client would do it (RFC 3986 §5.2.4); `%2e` is a dot too (WHATWG URL). Behind a prefix they would climb
 * out of it.
 */
function withoutDots(path: string): string {
  const segments = path.split("/");
  const kept: string[] = [];
  for (const [i, segment] of segments.entries()) {
    const plain = segment.replace(/%2e/gi, ".");
    const isDots = plain === "." || plain === "..";
    if (!isDots) kept.push(segment);
    if (plain === ".." && kept.length > 1) kept.pop();
    if (isDots && i === segments.length - 1) kept.push("");
  }
  return kept.join("/");
}
