/** The part of a path that Gym's clients put before it with observability on (nemo_gym/rollout_correlation.py:38,102-118). */
const ROLLOUT = /^\/ng-rollout\/([A-Za-z0-9][A-Za-z0-9._-]*)(?=\/)/;

const ABSOLUTE_FORM = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/;

/** Where a Gym resources server answers with a reward. */
export const DEFAULT_VERIFY_PATHS: readonly string[] = ["/verify"];

/**
 * The path that the server sees for a request target: without authority (RFC 9112 §3.2.2), query and fragment, percent-decoded byte by byte,
 * nothing else changed (no dot segments folded, no slashes joined), because that is how uvicorn and Starlette judge it.
 */
export function decodedPath(target: string): string {
  const path = target.replace(ABSOLUTE_FORM, "").split(/[?#]/, 1)[0]!;
  if (!path.includes("%")) return path;
  return path.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** A verify request: the rollout id in its path where there is one. */
export interface VerifyPath {
  readonly rolloutId: string | undefined;
}

/**
 * What the server would take this target for, if it is one of the verify paths; otherwise undefined.
 * A line feed at the end counts too: Python's `$` matches before it, and so does Starlette's route.
 */
export function verifyPath(
  target: string,
  paths: readonly string[] = DEFAULT_VERIFY_PATHS,
): VerifyPath | undefined {
  const path = decodedPath(target);
  const rollout = ROLLOUT.exec(path);
  const rest = rollout === null ? path : path.slice(rollout[0].length);
  if (!paths.includes(rest.endsWith("\n") ? rest.slice(0, -1) : rest)) return undefined;
  return { rolloutId: rollout?.[1] };
}
