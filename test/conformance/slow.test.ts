import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { through } from "./front.js";

/** Longer than a limit that a proxy may have been given by mistake; a judge may take hours. */
const SLOW_MS = 3_000;

test.each([false, true])("an answer may be slow to come (strict: %s)", async (maskedAsError) => {
  const upstream = createServer((_, reply) => {
    void setTimeout(SLOW_MS).then(() => reply.end("{}"));
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const front = await through({ maskedAsError })(`http://127.0.0.1:${port}`);
  try {
    const reply = await fetch(`${front.url}/verify`, { method: "POST", body: "{}" });
    expect(reply.status).toBe(200);
  } finally {
    await front.close();
    upstream.close();
  }
});
