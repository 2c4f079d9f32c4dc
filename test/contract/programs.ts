import { once } from "node:events";
import { createServer, connect } from "node:net";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { afterEach } from "vitest";
import { type Child, spawnGuarded } from "./guard.js";

/** What a program is started with. */
export interface Launch {
  /** The words in front of its kept output. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A program that was started and is stopped by its process id. */
export interface Program {
  readonly name: string;
  /** Everything that it printed until now, both streams in order of arrival. */
  output(): string;
  /** Its exit code, once it has ended; `null` when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Calls back with each whole line of standard error until it ends. */
  onErrorLine(listener: (line: string) => void): void;
  /** Asks it to end, makes it end after ten seconds, and waits for that. */
  stop(): Promise<void>;
}

const STOP_MS = 10_000;
const started: Program[] = [];

/** Starts a program whose standard input stays open until it is stopped, and keeps its output. */
export function startProgram(launch: Launch): Program {
  const child = spawnGuarded(launch.command, launch.args, launch);
  const kept: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => kept.push(text));
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      kept.push(`${error}\n`);
      resolve(null);
    });
    child.once("close", resolve);
  });
  const program: Program = {
    name: launch.name,
    output: () => kept.join(""),
    ended,
    onErrorLine: (listener) => splitLines(child.stderr, listener),
    stop: () => stop(child, ended),
  };
  started.push(program);
  return program;
}

/** Shows, after a test of this file that failed, what the programs started by it have printed. */
export function showProgramsOfFailedTests(): void {
  afterEach((context) => {
    if (context.task.result?.state !== "fail") return;
    for (const program of started) process.stderr.write(`${describe(program)}\n`);
  });
}

/** What a program printed to standard output, once it has ended with exit code 0. Rejects with its output otherwise. */
export async function runProgram(launch: Launch, input = ""): Promise<string> {
  const child = spawnGuarded(launch.command, launch.args, launch);
  const texts = { out: "", all: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    texts.out += text;
    texts.all += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.all += text));
  child.stdin.on("error", () => undefined).end(input);
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return texts.out;
  throw new Error(`${launch.name} ended with ${code}:\n${texts.all.slice(-8_000)}`);
}

/** A loopback port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Waits until a program listens on its port. Rejects with its output when it ends or `limitMs` passes first. */
export async function untilListening(
  program: Program,
  port: number,
  limitMs = 120_000,
): Promise<void> {
  const start = performance.now();
  let ended = false;
  void program.ended.then(() => (ended = true));
  while (!(await accepts(port))) {
    const seconds = Math.round((performance.now() - start) / 1000);
    if (ended || seconds * 1000 > limitMs) {
      throw new Error(
        `${ended ? "ended" : "not listening"} after ${seconds} s\n${describe(program)}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(socket.destroy() !== undefined));
    socket.once("error", () => resolve(false));
  });
}

async function stop(child: Child, ended: Promise<number | null>): Promise<void> {
  child.stdin.on("error", () => undefined).end();
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

function splitLines(stream: Readable, listener: (line: string) => void): void {
  let rest = "";
  stream.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) listener(line);
  });
}

function describe(program: Program): string {
  return `--- ${program.name} printed ---\n${program.output().slice(-8_000)}\n---`;
}
