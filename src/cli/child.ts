import { spawn } from "node:child_process";
import { constants } from "node:os";

/** How a server came to its end. */
export interface Ended {
  /** What a shell would give: the exit code, or 128 and the signal's number. */
  readonly code: number;
  /** Such as `exit code 3` or `SIGKILL`. */
  readonly how: string;
}

/** A running server. */
export interface Child {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** Sends it a signal; nothing happens when it has ended. */
  signal(name: NodeJS.Signals): void;
}

/** How long a server may take to end by itself when maskgate was killed, in seconds. */
const LAST_GRACE_S = 5;

/**
 * Becomes the server after starting a guard beside it, which lives in the server's process group and waits for the end of file descriptor 3. The other end of
 * that pipe belongs to maskgate alone, so it ends with maskgate, however that comes about, SIGKILL included. The guard then ends the server and all it started:
 * its process group, and on Linux also descendants that left the group while their parents lived. Killing "group 0" can never hit strangers, because the guard
 * itself keeps the group's number in use. The guard is no child of the server, which would see it in wait().
 */
const START = `
tree() { for list in /proc/$1/task/*/children; do read -r kids <"$list"; for kid in $kids; do echo $kid; tree $kid; done; done; }
( { trap '' HUP INT TERM
read -r _ <&3
kill -s TERM 0 $(tree $$)
left=${LAST_GRACE_S}0
while [ $left -gt 0 ] && kill -0 $$; do left=$((left - 1)); sleep 0.1 || sleep 1; done
kill -s KILL $(tree $$)
kill -s KILL 0; } >/dev/null 2>&1 & )
exec "$@" 3<&-`;

/**
 * Starts a server in a process group of its own, so that a Ctrl-C on the terminal reaches it only through maskgate, with maskgate's own stdin, stdout and stderr.
 * What is left of its group when it ends is killed.
 */
export function startChild(command: readonly string[]): Child {
  const child = spawn("/bin/sh", ["-c", START, "maskgate run", ...command], {
    detached: true,
    stdio: ["inherit", "inherit", "inherit", "pipe"],
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      killGroup(child.pid);
      resolve(
        signal === null
          ? { code: code ?? 1, how: `exit code ${code}` }
          : { code: 128 + constants.signals[signal], how: signal },
      );
    });
  });
  return {
    pid: child.pid ?? 0,
    ended,
    signal: (name) => {
      child.kill(name);
    },
  };
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left of it.
  }
}
