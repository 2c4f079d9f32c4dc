import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { type Logger, logEvent } from "../observe/log.js";

/** How long each try may take, in milliseconds. */
const PATIENCE_MS = 10_000;
/** How long before each further try, in milliseconds. */
const PAUSES_MS: readonly number[] = [500, 2000, 8000, 30_000, 120_000];
/** Messages that may wait for one that is tried again; a storm that begins and ends over and over must not fill memory. */
const MAX_WAITING = 20;

/** Where messages are posted to. */
export interface Webhook {
  /** Posts it as JSON, after those before it; nobody waits for it. */
  post(this: void, message: object): void;
  /** Gives up what has not been posted. */
  close(): Promise<void>;
}

/** A webhook at this URL: an answer of 200 to 299 is taken for delivered, anything else is tried again, five times at most. */
export function createWebhook(url: string, log: Logger): Webhook {
  const dispatcher = new Agent({
    connect: { timeout: PATIENCE_MS },
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
  });
  const closing = new AbortController();
  const { signal } = closing;
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;

  const attempt = async (body: string): Promise<string | undefined> => {
    try {
      const { statusCode, body: answer } = await request(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        dispatcher,
        signal,
      });
      await answer.dump();
      return statusCode >= 200 && statusCode < 300 ? undefined : `answered ${statusCode}`;
    } catch (error) {
      return error instanceof Error ? error.message || error.name : String(error);
    }
  };
  const deliver = async (body: string): Promise<void> => {
    let failed = await attempt(body);
    for (const pause of PAUSES_MS) {
      if (failed === undefined || signal.aborted) return;
      await wait(pause, undefined, { signal, ref: false }).catch(() => undefined);
      if (!signal.aborted) failed = await attempt(body);
    }
    if (failed !== undefined && !signal.aborted) giveUp(failed);
  };
  const giveUp = (why: string): void => {
    const { origin } = new URL(url);
    const says = `a message to the webhook at ${origin} was given up: ${why}`;
    logEvent(log, "warn", "webhook_failed", { origin }, says);
  };
  const deliverAfter = async (before: Promise<void>, body: string): Promise<void> => {
    await before;
    await deliver(body);
    waiting -= 1;
  };
  return {
    post: (message) => {
      if (waiting >= MAX_WAITING) {
        giveUp(`${MAX_WAITING} others wait before it`);
        return;
      }
      waiting += 1;
      last = deliverAfter(last, JSON.stringify(message));
    },
    close: async () => {
      closing.abort();
      await dispatcher.destroy();
      await last;
    },
  };
}
