import { createRequire } from "node:module";
import { pino, type DestinationStream, type Logger } from "pino";
import type { PinoPretty } from "pino-pretty";
import type { LogLevel } from "../config/config.js";
import { printableLines } from "../printable.js";

/** Every event that maskgate logs. Ids, counts, sizes and times go with them; never bodies, cookies or tokens. */
export type LogEvent =
  | "listening"
  | "request"
  | "translated"
  | "let_through"
  | "upstream_error"
  | "upstream_refused"
  | "uninspectable"
  | "client_gone"
  | "client_error"
  | "upgrade_error"
  | "verify_unmatched"
  | "config_applied"
  | "config_needs_restart"
  | "config_refused"
  | "config_missing"
  | "config_doubtful"
  | "translation_nan"
  | "few_descriptors"
  | "server_waiting"
  | "server_ended"
  | "many_workers"
  | "worker_started"
  | "worker_ended"
  | "worker_stuck"
  | "workers_failing"
  | "mask_storm"
  | "mask_storm_over"
  | "webhook_failed"
  | "audit_failed"
  | "audit_resumed"
  | "exposed"
  | "log_lost"
  | "certificate_applied"
  | "certificate_refused"
  | "draining"
  | "stopped"
  | "crashed"
  | "internal_error";

export type { Logger };

/** One line: the fields of an event under its name, and a sentence for people. Fields given as a function are made only for a line that is written. */
export function logEvent(
  log: Logger,
  level: Exclude<LogLevel, "silent">,
  event: LogEvent,
  fields: LogFields | (() => LogFields),
  message: string,
): void {
  if (!log.isLevelEnabled(level)) return;
  log[level]({ event, ...(typeof fields === "function" ? fields() : fields) }, message);
}

/** Writes a line that another process's log has made. */
export function writeLine(log: Logger, line: string): void {
  (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym]?.write(line);
}

type LogFields = Readonly<Record<string, unknown>>;

/** The user information of an absolute target (RFC 9110 §4.2.4). */
const USER_INFORMATION = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i;

/** What a request is called in the log: its path without query, fragment and user information, which may carry tokens, on one line and cut. */
export function loggedPath(target: string): string {
  return target.split(/[?#]/, 1)[0]!.replace(USER_INFORMATION, "$1").slice(0, 300);
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for people rather than JSON: for a terminal. */
  readonly readable: boolean;
  readonly destination: DestinationStream;
}

/** A logger without process id and host name in each line; its levels are words, which is what log collectors read, and its times ISO 8601. */
export function createLogger({ level, readable, destination }: LogOptions): Logger {
  const stream = readable ? forTerminal(destination) : destination;
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    stream,
  );
}

/** What clients and servers wrote comes raw in a line's JSON, but for the first controls: those are escaped in fields, and pino-pretty unescapes the message. */
function forTerminal(destination: DestinationStream): DestinationStream {
  const pretty = loadPretty()({
    colorize: true,
    translateTime: "HH:MM:ss",
    ignore: "event",
    messageFormat: (fields, key) => printableLines(String(fields[key])),
  });
  return { write: (line) => destination.write(pretty(printableLines(line))) };
}

/** Loaded only for a terminal: a service starts sooner without it. */
function loadPretty(): typeof PinoPretty.prettyFactory {
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof PinoPretty;
  return prettyFactory;
}
