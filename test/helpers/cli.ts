import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
  readonly finished: Promise<Finished>;
}

/** Starts the built program; it is killed at the end of the test if it still runs. */
export function startCli(args: readonly string[]): Running {
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
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
  return {
    child,
    finished,
    event: async (name) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const lines = stderr.split("\n").slice(0, -1);
          const found = lines
            .filter((line) => line.startsWith("{"))
            .map((line) => JSON.parse(line) as LogLine)
            .find((line) => line["event"] === name);
          if (found !== undefined) resolve(found);
          else if (child.exitCode === null) return;
          else reject(new Error(`ended with ${child.exitCode} before "${name}": ${stderr}`));
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Runs the built program to its end. */
export async function runCli(args: readonly string[]): Promise<Finished> {
  return startCli(args).finished;
}
