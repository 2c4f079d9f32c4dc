import { setTimeout as after } from "node:timers/promises";
import { Command } from "commander";
import { Client } from "undici";
import { ProxyError } from "../errors.js";
import type { Status } from "../observe/status.js";
import { type Emphasis, type Lost, topLines, topScreen } from "../observe/top-lines.js";
import { askStatus } from "./ask-status.js";

const EVERY_MS = 1000;
const PATIENCE_MS = 5000;

const ENTER = "\u001B[?1049h\u001B[?25l";
const LEAVE = "\u001B[?25h\u001B[?1049l";
const HOME = "\u001B[H";
const CLEAR_LINE = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";
const STYLES: Readonly<Record<Emphasis, string>> = {
  plain: "",
  strong: "\u001B[1m",
  storm: "\u001B[1;31m",
  faint: "\u001B[2m",
};
const QUIT_KEYS = ["q", "Q", "\u0003"];
const RESET = "\u001B[0m";

interface TopFlags {
  readonly once: boolean;
}

/** The command `top`: the operators' page for a terminal. */
export function topCommand(): Command {
  return new Command("top")
    .description("show what a running maskgate sees, in this terminal (it needs --admin-port)")
    .argument("[url]", "its operators' listener", "http://127.0.0.1:9201")
    .option("--once", "print it once, without colours", false)
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(see: maskgate top --help)")
    .exitOverride()
    .addHelpText(
      "after",
      "\nA token is taken from MASKGATE_ADMIN_TOKEN. Ends with 1 when nobody answers.",
    )
    .action(top);
}

async function top(url: string, { once }: TopFlags): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ProxyError("CONFIG_INVALID", `not http://HOST:PORT, found "${url}"`);
  }
  const client = new Client(new URL(url).origin, {
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
    connect: { timeout: PATIENCE_MS },
  });
  const token = process.env["MASKGATE_ADMIN_TOKEN"] ?? "";
  const ask = async (signal?: AbortSignal): Promise<Status> =>
    askStatus(client, url, token, signal);
  try {
    const first = await ask();
    if (once || !process.stdout.isTTY) process.stdout.write(plain(first));
    else await follow(ask, first);
  } finally {
    await client.destroy();
  }
}

function plain(status: Status): string {
  const lines = topLines(status, { columns: Number.POSITIVE_INFINITY, rows: 40 });
  return lines.map(({ text }) => `${text}\n`).join("");
}

/** Shows it anew every second, until a key, SIGINT, SIGTERM or the end of the terminal ends it. */
async function follow(ask: (signal: AbortSignal) => Promise<Status>, first: Status): Promise<void> {
  const { stdout } = process;
  const ended = new AbortController();
  const { signal } = ended;
  const end = (): void => ended.abort();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, end);
  stdout.once("error", end);
  const releaseKeys = takeKeys(end);
  stdout.write(ENTER);
  let status = first;
  let lost: Lost | undefined;
  let heard = new Date();
  try {
    while (!signal.aborted) {
      stdout.write(screen(status, lost));
      await after(EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        status = await ask(signal);
        heard = new Date();
        lost = undefined;
      } catch (error) {
        const says = error instanceof Error ? error.message : String(error);
        // What it advises is for who has never seen it answer.
        lost = { since: heard, why: says.split(";", 1)[0]! };
      }
    }
  } finally {
    stdout.write(LEAVE);
    releaseKeys();
  }
}

/** q and Ctrl-C; the terminal shows no key, and makes no signal of Ctrl-Z, which would leave the screen as it is. Returns how to give it back. */
function takeKeys(quit: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => {};
  const onData = (keys: Buffer): void => {
    if (QUIT_KEYS.some((key) => keys.includes(key))) quit();
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
}

function screen(status: Status, lost: Lost | undefined): string {
  const { columns, rows } = process.stdout;
  const text = topScreen(status, { columns, rows }, lost).map(
    (line) => `${STYLES[line.emphasis]}${line.text}${RESET}${CLEAR_LINE}`,
  );
  return `${HOME}${text.join("\r\n")}${CLEAR_BELOW}`;
}
