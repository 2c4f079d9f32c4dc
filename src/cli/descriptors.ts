import { readFileSync } from "node:fs";
import { logEvent, type Logger } from "../observe/log.js";

/** A request in flight takes two descriptors, one on each side, and a rollout can keep one for hours: this is for about ten thousand. */
const ENOUGH = 20_000;

/** Open files that this process may have, if the text of `/proc/self/limits` tells; Node has raised the soft limit to the hard one at its start. */
export function descriptorLimit(limits: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  if (soft === undefined) return undefined;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** One warning where the system allows few connections at once; nothing where it does not tell. */
export function warnOfFewDescriptors(workers: number, log: Logger): void {
  const limit = descriptorLimit(readLimits());
  if (limit === undefined || limit * workers >= ENOUGH) return;
  const who = workers === 1 ? "this process" : `each of ${workers} workers`;
  const says = `${who} may have ${limit} open files, which is for about ${Math.floor(limit / 2)} requests in flight; raise it with "ulimit -n ${ENOUGH}" before the start (systemd: LimitNOFILE=${ENOUGH})`;
  logEvent(log, "warn", "few_descriptors", { limit }, says);
}

function readLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "latin1");
  } catch {
    return "";
  }
}
