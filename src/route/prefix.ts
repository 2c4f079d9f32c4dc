import { mapValues, type RawHeaders, valuesOf } from "../http/headers.js";

const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

/** Whether the target's path begins with this prefix, up to a border of segments; compared byte for byte, as sent. */
export function hasPrefix(target: string, prefix: string): boolean {
  const path = target.slice(authorityLength(target));
  return path.startsWith(prefix) && /^(?:[/?#]|$)/.test(path.slice(prefix.length));
}

/** The target without the prefix, all its other bytes untouched; a path that is the prefix alone becomes `/`. */
export function cutPrefix(target: string, prefix: string): string {
  const before = authorityLength(target);
  const rest = target.slice(before + prefix.length);
  return `${target.slice(0, before)}${rest.startsWith("/") ? "" : "/"}${rest}`;
}

/**
 * An answer's fields with the prefix back in each `Location` that points at the host the client asked. Starlette answers `/verify/` with an absolute
 * 307 made from the Host field (WIRE: measured on nemo-gym 0.7.0), which would lead a client around its route.
 */
export function restorePrefix(answer: RawHeaders, prefix: string, request: RawHeaders): RawHeaders {
  const host = valuesOf(request, "host")[0]?.toLowerCase();
  return mapValues(answer, "location", (location) => {
    const found = /^(?:https?:)?\/\/([^/?#]*)/i.exec(location);
    const own = found === null ? location.startsWith("/") : found[1]!.toLowerCase() === host;
    if (!own) return location;
    const before = found?.[0] ?? "";
    return `${before}${prefix}${location.slice(before.length)}`;
  });
}

function authorityLength(target: string): number {
  return ABSOLUTE_FORM.exec(target)?.[0].length ?? 0;
}
