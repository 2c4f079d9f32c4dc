import { Writable } from "node:stream";
import { pino } from "pino";
import { createMaskgate } from "../../src/index.js";
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
  const logs: LogLine[] = [];
  const watchers = new Set<() => void>();
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      logs.push(JSON.parse(line.toString()) as LogLine);
      for (const look of [...watchers]) look();
      done();
    },
  });
  const gate = await createMaskgate({
    maskedAsError: true,
    ...options,
    upstream: typeof upstream === "string" ? upstream : upstream.url,
    port: 0,
    logger: pino({ level: "trace" }, stream),
  });
  closeLater(async () => gate.close());
  const logged = (event: string): LogLine[] => logs.filter((line) => line["event"] === event);
  return {
    url: gate.url,
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
