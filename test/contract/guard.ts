import { type ChildProcessByStdio, spawn, type SpawnOptions } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** A program with pipes for its standard input and output. */
export type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** How long a program may take to end by itself when the process that started it is gone, in seconds. */
const GRACE_S = 5;

/**
 * Becomes the program after starting a guard beside it, which waits for the end of file descriptor 3. The other end belongs to this process alone, so the guard
 * ends the program and what is left of its process group however this process ends, by SIGKILL or Ctrl-C too. The group's number stays in use for as long as
 * the guard lives, so it can never be a stranger's.
 */
const START = `
( { trap '' HUP INT TERM
read -r _ <&3
kill -s TERM 0
left=${GRACE_S}0
while [ $left -gt 0 ] && kill -0 $$; do left=$((left - 1)); sleep 0.1 || sleep 1; done
kill -s KILL 0; } </dev/null >/dev/null 2>&1 & )
exec "$@" 3<&-`;

// A worker would wait for its programs although the Vitest that it reports to is gone.
process.once("disconnect", () => process.exit(1));

/** Starts a program in a process group of its own, none of which outlives this process. */
export function spawnGuarded(
  command: string,
  args: readonly string[],
  { cwd, env }: Pick<SpawnOptions, "cwd" | "env">,
): Child {
  const child = spawn("/bin/sh", ["-c", START, "guarded", command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  const guard = child.stdio[3] as Writable;
  guard.on("error", () => undefined);
  child.once("exit", () => guard.destroy());
  return child;
}
