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

function authorityLength(target: string): number {
  return ABSOLUTE_FORM.exec(target)?.[0].length ?? 0;
}
