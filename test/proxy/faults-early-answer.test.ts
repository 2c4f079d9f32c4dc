import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, request } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient } from "../helpers/raw-client.js";

const TOO_LARGE = answer('{"detail":"too large"}', {
  status: 413,
  reason: "Content Too Large",
  headers: [["Connection", "close"]],
});

/** A server that answers as soon as it has seen a header and closes without reading the rest, which makes its kernel send a reset. */
async function startHasty(): Promise<{ readonly url: string; readonly taken: () => number }> {
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.pause();
      socket.write(TOO_LARGE, () => socket.resetAndDestroy());
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closeLater(() => {
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, taken: () => taken };
}

describe.each(MODES)(
  "an answer before its request was read, and a reset behind it (%s)",
  (mode) => {
    it.each([1_000, 200_000, 8_000_000])("reaches a client that uploads %i bytes", async (size) => {
      const upstream = await startHasty();
      const proxy = await startInMode(mode, upstream);
      for (let round = 0; round < 20; round += 1) {
        const client = await openClient(proxy.url);
        client.write(request("POST", "/verify", { body: "x".repeat(size) }));
        const reply = await client.reply("POST");
        expect(reply.line).toBe("HTTP/1.1 413 Content Too Large");
        expect(reply.text).toBe('{"detail":"too large"}');
        expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
        client.destroy();
      }
      expect(upstream.taken()).toBe(20);
    });
  },
);
