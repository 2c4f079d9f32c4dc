import type { IncomingMessage } from "node:http";
import { type Duplex, Readable } from "node:stream";
import { mapValues, type RawHeaders } from "../../../src/http/headers.js";
import type { AnswerScan } from "../../../src/mask/scan.js";
import type { Outgoing, Transport } from "../../../src/proxy/forward.js";
import type { verifyPath } from "../../../src/route/verify-path.js";

/** One thing that a proxy may do wrong. What a mutant does not name, it leaves as it is. */
export interface Mutant {
  transport?(transport: Transport): Transport;
  /** What the upstream is asked instead. */
  outgoing?(outgoing: Outgoing, transport: Transport): Outgoing;
  /** The answer that goes on instead. */
  answer?(
    answer: IncomingMessage,
    transport: Transport,
    asked: Outgoing,
  ): IncomingMessage | Promise<IncomingMessage>;
  /** The fields of a request or an answer that go on instead of those that should; `all` are those that came. */
  kept?(kept: string[], all: RawHeaders): string[];
  /** The scan that reads answers instead. */
  scan?(real: typeof AnswerScan): typeof AnswerScan;
  /** What a request target is taken for instead. */
  verifyPath?: typeof verifyPath;
  /** Changes an upgrade, or the client's connection, before it goes on. */
  upgrade?(request: IncomingMessage, socket: Duplex): void;
}

/** An answer with another header; its body is still streamed, and an error of it still an error. */
export function changed(
  answer: IncomingMessage,
  header: { readonly statusCode?: number; readonly rawHeaders?: RawHeaders },
): IncomingMessage {
  return Object.defineProperties(
    answer,
    Object.fromEntries(Object.entries(header).map(([name, value]) => [name, { value }])),
  );
}

/** The parts of a body that came before its end, or before it was cut. */
export async function partsOf(answer: IncomingMessage): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  try {
    for await (const part of answer) parts.push(part as Buffer);
  } catch {
    // What came is what there is.
  }
  return parts;
}

/** An answer whose body is another, once all of it is there; its length, where it has one, is the new body's. */
export async function withBody(
  answer: IncomingMessage,
  edit: (body: Buffer) => Buffer,
  read: (answer: IncomingMessage) => Promise<Buffer[]> = (whole) => whole.toArray(),
): Promise<IncomingMessage> {
  const body = edit(Buffer.concat(await read(answer)));
  const { statusCode, statusMessage, headers } = answer;
  const rawHeaders = mapValues(answer.rawHeaders, "content-length", () => String(body.length));
  return Object.assign(Readable.from([body]), {
    statusCode,
    statusMessage,
    headers,
    rawHeaders,
  }) as unknown as IncomingMessage;
}

/** Changes what is written to a connection; nothing is written where that gives nothing. */
export function rewriting(socket: Duplex, edit: (data: Buffer) => Buffer | undefined): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  const edited = (data: unknown, ...rest: unknown[]): boolean => {
    const next = Buffer.isBuffer(data) ? edit(data) : data;
    return next === undefined || write(next, ...rest);
  };
  Object.defineProperty(socket, "write", { value: edited });
}

/** The fields for which `keep` holds. */
export function only(
  headers: RawHeaders,
  keep: (name: string, value: string, at: number) => boolean,
): string[] {
  return headers.filter((_, at) => {
    const field = at - (at % 2);
    return keep(headers[field]!.toLowerCase(), headers[field + 1]!, field);
  });
}
