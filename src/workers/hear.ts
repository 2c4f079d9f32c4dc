import type { Finding, Passage, WatchedRoute, Witness } from "../observe/passage.js";
import type { Sighting } from "./messages.js";

const NOT_MASKED = { decision: "pass", because: "not masked" } as const;
const SCORED: Finding = { verdict: { verdict: "scored" }, decision: NOT_MASKED };
const UNKNOWN: Finding = {
  verdict: { verdict: "unknown", why: "not-an-object" },
  decision: NOT_MASKED,
};

/** Tells a witness of this process what the witness of another one has seen. */
export function createHearing(witness: Witness): (seen: readonly Sighting[]) => void {
  const known = new Map<string, WatchedRoute>();
  /** The same object for the same route, because a monitor knows routes by it. */
  const routeOf = ({ name, mode }: Pick<WatchedRoute, "name" | "mode">): WatchedRoute => {
    const key = `${mode} ${name}`;
    const route = known.get(key) ?? { name, mode, translation: "error" };
    known.set(key, route);
    return route;
  };
  const hear = (sighting: Sighting): void => {
    switch (sighting[0]) {
      case "scored":
        return witness.judged(passageOf(routeOf(sighting[1])), SCORED, 200);
      case "unknown":
        return witness.judged(passageOf(routeOf(sighting[1])), UNKNOWN, 200);
      case "masked": {
        const [, { totalMs, ...passage }, finding, status] = sighting;
        return witness.judged({ ...passage, elapsedMs: () => totalMs }, finding, status);
      }
      case "failed": {
        const [, route, code, verify] = sighting;
        const passage = passageOf(routeOf(route));
        return witness.failed(
          { ...passage, verify: verify ? { rolloutId: undefined } : undefined },
          code,
        );
      }
      case "ended": {
        const [, route, status, upstreamMs, totalMs] = sighting;
        return witness.ended(passageOf(routeOf(route), upstreamMs, totalMs), status);
      }
    }
  };
  return (seen) => {
    for (const sighting of seen) hear(sighting);
  };
}

function passageOf(route: WatchedRoute, upstreamMs = 0, totalMs = 0): Passage {
  return {
    route,
    request: { rawHeaders: [] },
    verify: undefined,
    answerBytes: 0,
    upstreamMs,
    elapsedMs: () => totalMs,
  };
}
