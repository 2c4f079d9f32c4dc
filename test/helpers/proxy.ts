import { Writable } from "node:stream";
import { type Logger, pino } from "pino";
import type { Config } from "../../src/config/config.js";
import { problemText } from "../../src/config/problems.js";
import { resolveConfig } from "../../src/config/resolve.js";
import { createMaskgate } from "../../src/index.js";
import { type Gate, openGate } from "../../src/proxy/gate.js";
import { closeLater } from "./closing.js";

/** One line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** The options of `createMaskgate` that tests set; the upstream and the port are given for them. */
export type ProxyOptions = Omit<
  Parameters<typeof createMaskgate>[0],
  "upstream" | "port" | "logger"
>;

/** A proxy in this process, with all that it logs. */
export interface Proxy {
  readonly url: string;
  /** Where each of its listeners is, in written order. */
  readonly urls: readonly string[];
  readonly gate: Gate;
  readonly logs: readonly LogLine[];
  /** The lines of this event so far. */
  logged(event: string): LogLine[];
  /** The `n`-th line of this event (from 1), as soon as it is written. */
  nextLog(event: string, n?: number): Promise<LogLine>;
  close(): Promise<void>;
}

/** Starts a proxy in front of `upstream`, strict unless told otherwise. */
export async function startProxy(
  upstream: string | { readonly url: string },
  options: ProxyOptions = {},
): Promise<Proxy> {
  return logging(async (logger) =>
    createMaskgate({ maskedAsError: true, ...options, upstream: urlOf(upstream), port: 0, logger }),
  );
}

/** Starts a proxy with the configuration that a file with this text makes; without a `listen` of its own it listens on a free port. */
export async function startConfigured(
  upstream: string | { readonly url: string },
  yaml: string,
): Promise<Proxy> {
  const config = configOf(upstream, yaml);
  return logging(async (logger) => openGate(config, logger));
}

/** The configuration that a file with this text makes; on a free port where it does not say where to listen. */
export function configOf(upstream: string | { readonly url: string }, yaml: string): Config {
  const text = /^listen:/m.test(yaml) ? yaml : `listen: {port: 0}\n${yaml}`;
  const file = { name: "maskgate.yaml", text };
  const loaded = resolveConfig({ flags: { upstream: urlOf(upstream) } }, file);
  if ("problems" in loaded) throw new Error(problemText(loaded.problems));
  return loaded.config;
}

function urlOf(upstream: string | { readonly url: string }): string {
  return typeof upstream === "string" ? upstream : upstream.url;
}

async function logging(open: (logger: Logger) => Promise<Gate>): Promise<Proxy> {
  const logs: LogLine[] = [];
  const watchers = new Set<() => void>();
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      logs.push(JSON.parse(line.toString()) as LogLine);
      for (const look of [...watchers]) look();
      done();
    },
  });
  const gate = await open(pino({ level: "trace" }, stream));
  closeLater(async () => gate.close());
  const logged = (event: string): LogLine[] => logs.filter((line) => line["event"] === event);
  return {
    url: gate.url,
    get urls() {
      return gate.urls;
    },
    gate,
    logs,
    logged,
    nextLog: async (event, n = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          const line = logged(event)[n - 1];
          if (line === undefined) return;
          watchers.delete(look);
          resolve(line);
        };
        watchers.add(look);
        look();
      }),
    close: async () => gate.close(),
  };
}
