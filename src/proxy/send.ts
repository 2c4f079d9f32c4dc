import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { RawHeaders } from "../http/headers.js";
import { type Splice, spliceChunk } from "../mask/splice.js";
import type { Exchange } from "./exchange.js";
import type { Chunks } from "./hold.js";
import { startAsAnswered } from "./relay.js";

/** How much of an answer goes to the system before others get their turn, in bytes: it takes megabytes from each of many at once. */
const BYTES_A_TURN = 512 * 1024;

/**
 * Sends a held answer with these fields, and with the splice where there is one. What is in memory leaves together with the header; what is in a file
 * is read at the client's pace, into the same memory again and again.
 */
export async function sendHeld(
  exchange: Exchange,
  answer: IncomingMessage,
  headers: RawHeaders,
  held: Chunks,
  splice?: Splice,
): Promise<void> {
  if (exchange.closed || !startAsAnswered(exchange, answer, headers)) return;
  const { reply } = exchange;
  let at = 0;
  let sinceTurn = 0;
  reply.cork();
  for (let index = 0; index < held.count; index++) {
    const wanted = held.chunk(index, true);
    const fromFile = !Buffer.isBuffer(wanted);
    if (fromFile && reply.writableCorked > 0) reply.uncork();
    const chunk = fromFile ? await wanted : wanted;
    if (exchange.closed) return;
    const pieces = splice === undefined ? [chunk] : [...spliceChunk(chunk, at, splice)];
    at += chunk.length;
    sinceTurn += chunk.length;
    if (!fromFile && sinceTurn < BYTES_A_TURN) {
      for (const piece of pieces) reply.write(piece);
      continue;
    }
    const taken = written(reply, pieces);
    if (reply.writableCorked > 0) reply.uncork();
    await taken;
    if (sinceTurn >= BYTES_A_TURN) {
      await setImmediate();
      sinceTurn = 0;
    }
    if (exchange.closed) return;
    if (!fromFile) reply.cork();
  }
  // In this order: Node 22.23 sends the last chunk of a corked reply before the others when it is ended first.
  if (reply.writableCorked > 0) reply.uncork();
  reply.end();
}

/** Resolves when the system has taken all of it, so that the memory can be used again, or the client has gone. */
function written(reply: ServerResponse, pieces: readonly Buffer[]): Promise<void> {
  const last = pieces.length - 1;
  if (last < 0) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      reply.off("close", done);
      resolve();
    };
    reply.once("close", done);
    for (const [n, piece] of pieces.entries()) {
      if (n < last) reply.write(piece);
      else reply.write(piece, done);
    }
  });
}
