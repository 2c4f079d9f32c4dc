import type { IncomingMessage, ServerResponse } from "node:http";
import type { RawHeaders } from "../http/headers.js";
import { type Splice, spliceChunk } from "../mask/splice.js";
import type { Exchange } from "./exchange.js";
import type { Chunks } from "./hold.js";
import { startAsAnswered } from "./relay.js";

/**
 * Sends a held answer with these fields, and with the splice where there is one. What is in memory leaves together with the header; what is in a file
 * is read at the client's pace.
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
  reply.cork();
  let corked = true;
  for (let index = 0; index < held.count; index++) {
    const wanted = held.chunk(index);
    let chunk: Buffer;
    if (Buffer.isBuffer(wanted)) {
      chunk = wanted;
    } else {
      if (corked) reply.uncork();
      corked = false;
      chunk = await wanted;
      if (reply.writableNeedDrain) await drained(reply);
      if (exchange.closed) return;
    }
    for (const piece of splice === undefined ? [chunk] : spliceChunk(chunk, at, splice)) {
      reply.write(piece);
    }
    at += chunk.length;
  }
  // In this order: Node 22.23 sends the last chunk of a corked reply before the others when it is ended first.
  if (corked) reply.uncork();
  reply.end();
}

function drained(reply: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      reply.off("drain", done);
      reply.off("close", done);
      resolve();
    };
    reply.once("drain", done);
    reply.once("close", done);
  });
}
