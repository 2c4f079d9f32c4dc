import { changesBetween } from "../config/changes.js";
import type { Config } from "../config/config.js";
import { watchConfig } from "../config/watch.js";
import { logEvent, type Logger } from "../observe/log.js";
import type { Front } from "./serving.js";
import { warnOfDoubts } from "./doubts.js";
import { warnOfNaN } from "./warn-nan.js";

/** Where the configuration comes from, and the file to watch where there is one. */
export interface ConfigSource {
  readonly file: string | undefined;
  load(): Promise<Config>;
}

/**
 * Applies the configuration anew whenever its file changes and at every SIGHUP, one after the other. An invalid one changes nothing and is reported with
 * all its problems.
 *
 * @returns how to stop watching.
 */
export function reloadOnChange(
  gate: Front,
  source: ConfigSource,
  started: Config,
  log: Logger,
): () => void {
  let current = started;
  let last: Promise<void> = Promise.resolve();
  const told: Told = { problems: "", byLook: false };
  const reloadAfter = async (before: Promise<void>, isAsked: boolean): Promise<void> => {
    await before;
    current = await reloadOnce(gate, source, current, log, isAsked, told);
  };
  const reload = (): void => {
    last = reloadAfter(last, true);
  };
  process.on("SIGHUP", reload);
  const { file } = source;
  const tellMissing = (): void => {
    const says = `${file} has gone; the configuration stays as it is, and a new file applies`;
    logEvent(log, "warn", "config_missing", { file }, says);
  };
  // A server may take minutes to start between the first reading and the watching.
  const lookAgain = (): void => {
    last = reloadAfter(last, false);
  };
  const unwatch =
    file === undefined ? undefined : watchConfig(file, reload, tellMissing, lookAgain);
  return () => {
    // A SIGHUP that nobody listens to would end the process before what is in flight has finished.
    process.on("SIGHUP", () => undefined);
    process.off("SIGHUP", reload);
    unwatch?.();
  };
}

/** What was said last, so that a file which is read for two reasons is told of once. */
interface Told {
  /** Why it was refused; empty when it was not. */
  problems: string;
  /** It was told of because somebody looked again, before the change of the file was noticed. */
  byLook: boolean;
}

/** Whether what was found is the same as before and has been told of; takes note of it. */
function isTold(told: Told, isSame: boolean, isAsked: boolean, problems = ""): boolean {
  const known = isSame && (!isAsked || told.byLook);
  Object.assign(told, { problems, byLook: !isAsked && !known });
  return known;
}

async function reloadOnce(
  gate: Front,
  source: ConfigSource,
  current: Config,
  log: Logger,
  isAsked: boolean,
  told: Told,
): Promise<Config> {
  try {
    const next = await source.load();
    const changes = changesBetween(current, next);
    if (isTold(told, changes.length === 0, isAsked)) return current;
    const live = changes.filter((change) => !change.needsRestart);
    const later = changes.filter((change) => change.needsRestart);
    if (live.length > 0) await gate.apply(next);
    const said = live.map(({ path, from, to }) => `${path}: ${from} → ${to}`);
    if (live.length > 0) {
      logEvent(log, "info", "config_applied", { changes: live }, `applied: ${said.join("; ")}`);
      warnOfNaN(next.routes, current.routes, log);
      warnOfDoubts(next.routes, current.routes, log);
    }
    if (later.length > 0) {
      const paths = later.map(({ path }) => path).join(", ");
      logEvent(
        log,
        "warn",
        "config_needs_restart",
        { changes: later },
        `needs a restart: ${paths}`,
      );
    }
    gate.noteReload(live.length > 0 ? "applied" : "unchanged");
    if (changes.length === 0) logEvent(log, "info", "config_applied", {}, "nothing has changed");
    return { ...current, listen: next.listen, routes: next.routes, verifyPaths: next.verifyPaths };
  } catch (error) {
    const problems = error instanceof Error ? error.message : String(error);
    if (isTold(told, problems === told.problems, isAsked, problems)) return current;
    gate.noteReload("refused");
    const says = `the new configuration was refused and nothing has changed:\n${problems}`;
    logEvent(log, "error", "config_refused", { problems: problems.split("\n") }, says);
    return current;
  }
}
