import { globOf } from "../config/patterns.js";
import { suggest } from "../config/suggest.js";
import { FAILURE_KINDS } from "../observe/kinds.js";
import { logEvent, type Logger } from "../observe/log.js";
import type { Route } from "../route/route.js";

const KINDS: readonly string[] = [...FAILURE_KINDS];

/** What is valid in these routes but was most likely not meant, a sentence each. */
export function doubtsAbout(routes: readonly Route[]): string[] {
  return routes.flatMap((route) => [...doubtfulRamp(route), ...doubtfulKinds(route)]);
}

/** One warning for each doubt that was not there `before`. */
export function warnOfDoubts(
  routes: readonly Route[],
  before: readonly Route[],
  log: Logger,
): void {
  const known = new Set(doubtsAbout(before));
  for (const says of doubtsAbout(routes)) {
    if (!known.has(says)) logEvent(log, "warn", "config_doubtful", {}, says);
  }
}

function doubtfulRamp({ name, ramp: { percentage } }: Route): string[] {
  if (percentage <= 0 || percentage >= 1) return [];
  const meant = Math.round(percentage * 100);
  return [
    `route ${name}: percentage ${percentage} is ${percentage} % of the tasks, which is less than one in a hundred; ${meant} % is written ${meant}`,
  ];
}

/** Servers have kinds of their own, so only one that looks like a known one is doubted. */
function doubtfulKinds({ name, only = [], except }: Route): string[] {
  return [...only, ...except].map(globOf).flatMap((kind) => {
    if (/[*?]/.test(kind) || FAILURE_KINDS.has(kind)) return [];
    const near = suggest(kind, KINDS);
    if (near === undefined) return [];
    return [
      `route ${name}: no server is known to write the kind "${kind}"; did you mean "${near}"?`,
    ];
  });
}
