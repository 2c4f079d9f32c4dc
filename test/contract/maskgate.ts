import { fileURLToPath } from "node:url";
import { startProgram } from "./programs.js";
import type { Program } from "./programs.js";

/** A maskgate that was started as a user starts it. */
export interface Maskgate {
  readonly url: string;
  readonly program: Program;
  /** The log records of one event until now. */
  logged(event: string): Record<string, unknown>[];
}

/** The path of a configuration that the documentation shows. */
export function snippet(name: string): string {
  return fileURLToPath(new URL(`snippets/${name}`, import.meta.url));
}

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

/** Starts `maskgate serve UPSTREAM --port 0 …` and waits until it says where it listens. */
export async function startMaskgate(upstream: string, ...options: string[]): Promise<Maskgate> {
  const program = startProgram({
    name: `maskgate serve ${upstream} --port 0 ${options.join(" ")}`,
    command: process.execPath,
    args: [BIN, "serve", upstream, "--port", "0", ...options],
  });
  const records: Record<string, unknown>[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    program.onErrorLine((line) => {
      const record = readRecord(line);
      if (record === undefined) return;
      records.push(record);
      if (record["event"] === "listening") resolve(String(record["url"]));
    });
    void program.ended.then((code) =>
      reject(new Error(`${program.name} ended with ${code}:\n${program.output()}`)),
    );
  });
  return { url, program, logged: (event) => records.filter((record) => record["event"] === event) };
}

function readRecord(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
