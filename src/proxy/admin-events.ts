import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Monitor } from "../observe/monitor.js";
import type { Readings } from "../observe/readings.js";
import { historyOf, statusOf } from "../observe/status.js";

const EVERY_MS = 1000;
/** How far back each event reaches into the history, in milliseconds: the slot that is being filled, and the one before. */
const REACH_MS = 25_000;

/** Sends the status now with the last hour, then every second with what is new, until the reader leaves (WHATWG HTML, server-sent events). */
export async function streamEvents(
  reply: ServerResponse,
  headers: OutgoingHttpHeaders,
  monitor: Monitor,
  readings: Readings,
): Promise<void> {
  reply.writeHead(200, { ...headers, "content-type": "text/event-stream; charset=utf-8" });
  let last = 0;
  const send = async (since: number): Promise<void> => {
    await readings.fresh?.();
    // A reader that does not read gets the next one that it has room for.
    if (reply.writableNeedDrain || reply.closed) return;
    const status = statusOf(monitor, readings, last);
    last = status.recent[0]?.id ?? last;
    const data = { now: Date.now(), ...status, history: historyOf(monitor, since) };
    reply.write(`data: ${JSON.stringify(data)}\n\n`);
  };
  await send(0);
  const timer = setInterval(() => void send(Date.now() - REACH_MS), EVERY_MS);
  if (reply.closed) clearInterval(timer);
  reply.once("close", () => clearInterval(timer));
}
