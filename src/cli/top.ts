import { Command } from "commander";
import { Client } from "undici";
import { ProxyError } from "../errors.js";
import { type Emphasis, topLines } from "../observe/top-lines.js";
import type { Status } from "../observe/status.js";

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
  try {
    const first = await ask(client, url);
    if (once || !process.stdout.isTTY) process.stdout.write(plain(first));
    else await follow(client, url, first);
  } finally {
    await client.destroy();
  }
}

async function ask(client: Client, url: string): Promise<Status> {
  const token = process.env["MASKGATE_ADMIN_TOKEN"] ?? "";
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  let text: string;
  let statusCode: number;
  try {
    const answer = await client.request({ method: "GET", path: "/status", headers });
    ({ statusCode } = answer);
    text = await answer.body.text();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      `${url} does not answer (${code ?? message}); is it served with --admin-port?`,
      {
        cause: error,
      },
    );
  }
  if (statusCode === 401) throw new Error(`${url} asks for a token; set MASKGATE_ADMIN_TOKEN`);
  if (statusCode !== 200) throw new Error(`${url}/status answers ${statusCode}`);
  return JSON.parse(text) as Status;
}

function plain(status: Status): string {
  const lines = topLines(status, { columns: Number.POSITIVE_INFINITY, rows: 40 });
  return lines.map(({ text }) => `${text}\n`).join("");
}

/** Shows it anew every second, until SIGINT, SIGTERM or the end of the terminal. */
async function follow(client: Client, url: string, first: Status): Promise<void> {
  const { stdout } = process;
  const ended = new AbortController();
  const end = (): void => ended.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
  stdout.once("error", end);
  stdout.write(ENTER);
  let status = first;
  let lost = "";
  try {
    while (!ended.signal.aborted) {
      stdout.write(screen(status, lost));
      await pause(ended.signal);
      if (ended.signal.aborted) return;
      try {
        status = await ask(client, url);
        lost = "";
      } catch (error) {
        lost = error instanceof Error ? error.message : String(error);
      }
    }
  } finally {
    stdout.write(LEAVE);
  }
}

function screen(status: Status, lost: string): string {
  const { columns, rows } = process.stdout;
  const lines = topLines(status, { columns, rows: rows - 1 });
  const shown = lost === "" ? lines : [{ emphasis: "storm" as const, text: lost }, ...lines];
  const text = shown
    .slice(0, rows - 1)
    .map((line) => `${STYLES[line.emphasis]}${line.text}${RESET}${CLEAR_LINE}\r\n`);
  return `${HOME}${text.join("")}${CLEAR_BELOW}`;
}

async function pause(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, EVERY_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
