import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { closeLater } from "./closing.js";
import type { LogLine } from "./proxy.js";

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

/** What a run of the program left behind. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running program. */
export interface Running {
  readonly child: ChildProcess;
  /** The first log line of this event. */
  event(name: string): Promise<LogLine>;
  /** The line that `find` picks of all that was logged, as soon as it does; `wanted` is what an error calls it. */
  until(find: (logs: readonly LogLine[]) => LogLine | undefined, wanted: string): Promise<LogLine>;
  /** What was logged so far. */
  readonly logs: readonly LogLine[];
  readonly finished: Promise<Finished>;
}

/** How a program is started otherwise than usual. */
export interface CliOptions {
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** A shell's words before the program, such as `ulimit -n 40;`. */
  readonly shell?: string;
}

/** Starts the built program; it is killed at the end of the test if it still runs. */
export function startCli(args: readonly string[], options: CliOptions = {}): Running {
  const { nodeArgs = [], env = {}, shell } = options;
  const words = [process.execPath, ...nodeArgs, BIN, ...args];
  const [command, ...rest] =
    shell === undefined ? words : ["/bin/sh", "-c", `${shell} exec "$@"`, "sh", ...words];
  return watchCli(
    spawn(command!, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    }),
  );
}

/** The same for a program that somebody else has started, and that writes to pipes. */
export function watchCli(child: ChildProcessByStdio<null, Readable, Readable>): Running {
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  child.stdout.on("data", (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr.on("data", (data: Buffer) => {
    stderr += data.toString();
    for (const look of [...watchers]) look();
  });
  const finished = once(child, "close").then(() => {
    for (const look of [...watchers]) look();
    return { code: child.exitCode, stdout, stderr };
  });
  closeLater(async () => {
    if (child.exitCode === null) child.kill("SIGKILL");
    await finished;
  });
  const logs = (): LogLine[] =>
    stderr
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as LogLine);
  const until: Running["until"] = async (find, wanted) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find(logs());
        if (found !== undefined) resolve(found);
        else if (child.exitCode === null) return;
        else reject(new Error(`ended with ${child.exitCode} before "${wanted}": ${stderr}`));
        watchers.delete(look);
      };
      watchers.add(look);
      look();
    });
  return {
    child,
    finished,
    until,
    get logs() {
      return logs();
    },
    event: async (name) => until((written) => written.find((line) => line["event"] === name), name),
  };
}

/** Runs the built program to its end. */
export async function runCli(args: readonly string[]): Promise<Finished> {
  return startCli(args).finished;
}
