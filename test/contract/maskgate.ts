import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, startProgram } from "./programs.js";
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

/** A configuration with a prefix route for each translation; what has no prefix is passed through. */
export const EVERY_ROUTE = fileURLToPath(new URL("every-route.yaml", import.meta.url));

const BIN = fileURLToPath(new URL("../../bin/maskgate.js", import.meta.url));

/** Starts a snippet that listens on 9200 and 9202 on two free ports instead; routes by port follow. */
export async function startOnTwoPorts(
  upstream: string,
  name: string,
): Promise<Maskgate & { readonly second: string }> {
  const [first, second] = [await freePort(), await freePort()];
  const text = await readFile(snippet(name), "utf8");
  const folder = await mkdtemp(join(tmpdir(), "maskgate-ports-"));
  const file = join(folder, name);
  await writeFile(file, text.replaceAll("9200", `${first}`).replaceAll("9202", `${second}`));
  const gate = await start(["serve", upstream, "--config", file]);
  void gate.program.ended.then(() => rm(folder, { recursive: true }));
  return { ...gate, second: `http://127.0.0.1:${second}` };
}

/** Starts `maskgate serve UPSTREAM --port 0 …` and waits until it says where it listens. */
export function startMaskgate(upstream: string, ...options: string[]): Promise<Maskgate> {
  return start(["serve", upstream, "--port", "0", ...options]);
}

async function start(args: readonly string[]): Promise<Maskgate> {
  const program = startProgram({
    name: `maskgate ${args.join(" ")}`,
    command: process.execPath,
    args: [BIN, ...args],
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
