import { logEvent, type Logger } from "../observe/log.js";
import type { Route } from "../route/route.js";

const sendsNaN = ({ mode, translation }: Route): boolean =>
  mode === "strict" && translation === "nan";

/** One warning for each route that sends NaN and was not among those that did so `before`. */
export function warnOfNaN(routes: readonly Route[], before: readonly Route[], log: Logger): void {
  const known = new Set(before.filter(sendsNaN).map(({ name }) => name));
  for (const { name } of routes.filter(sendsNaN)) {
    if (known.has(name)) continue;
    const says = `route ${name} sends NaN as the reward: verifiers and prime-rl would average it into every mean`;
    logEvent(log, "warn", "translation_nan", { route: name }, says);
  }
}
