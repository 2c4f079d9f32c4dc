import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { eventually } from "../helpers/eventually.js";
import { answer, request, SCORED } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

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

const SCORED_EARLY = answer(SCORED);

describe.each(MODES)("an answer before its request was read (%s)", (mode) => {
  it.each([100, 100_000, 3_000_000])(
    "takes nothing from an upload of %i bytes, nor from the request behind it",
    async (size) => {
      const seen: number[] = [];
      const upstream = await startUpstream(async ({ whole, write }) => {
        write(SCORED_EARLY);
        seen.push((await whole).body.length);
      });
      const proxy = await startInMode(mode, upstream);
      const client = await openClient(proxy.url);
      const body = "x".repeat(size);
      const upload = request("POST", "/verify", { body });
      client.write(upload.subarray(0, upload.length - size + 50));
      expect((await client.reply("POST")).text).toBe(SCORED);
      client.write(upload.subarray(upload.length - size + 50));
      client.write(request("POST", "/verify", { body: "{}" }));
      expect((await client.reply("POST")).text).toBe(SCORED);
      await eventually(() => expect(seen).toEqual([size, 2]));
    },
  );

  it("leaves an upload in flight, and a drain ends with it though its client keeps the connection", async () => {
    const upstream = await startUpstream(({ write }) => write(SCORED_EARLY));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    const upload = request("POST", "/verify", { body: "x".repeat(1000) });
    client.write(upload.subarray(0, -100));
    expect((await client.reply("POST")).text).toBe(SCORED);
    const drained = proxy.gate.drain();
    await expect(openClient(proxy.url)).rejects.toThrow("ECONNREFUSED");
    expect(proxy.gate.inFlight()).toBe(1);
    client.write(upload.subarray(-100));
    await drained;
    expect(proxy.gate.inFlight()).toBe(0);
    const { whole } = await upstream.arrived(1);
    expect((await whole).body.length).toBe(1000);
  });

  it("leaves nothing in flight where the client was not asked for its body", async () => {
    const upstream = await startUpstream(({ write }) => write(SCORED_EARLY));
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    const headers = [["Expect", "100-continue"]] as const;
    const upload = request("POST", "/verify", { body: "x".repeat(1000), headers });
    client.write(upload.subarray(0, -1000));
    expect((await client.reply("POST")).text).toBe(SCORED);
    await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
  });

  const CLOSE = ["Connection", "close"] as const;

  it.each([
    ["the client", [CLOSE], []],
    ["the upstream", [], [CLOSE]],
    ["either", [CLOSE], [CLOSE]],
  ])("takes nothing from an upload where %s keeps no connection", async (_, asks, says) => {
    for (const size of [1_000, 3_000_000]) {
      const seen: number[] = [];
      const upstream = await startUpstream(async ({ whole, write, end }) => {
        write(answer(SCORED, { headers: says }));
        seen.push((await whole).body.length);
        if (says.length > 0) end();
      });
      const proxy = await startInMode(mode, upstream);
      const client = await openClient(proxy.url);
      const upload = request("POST", "/verify", { body: "x".repeat(size), headers: asks });
      client.write(upload.subarray(0, upload.length - size + 50));
      expect((await client.reply("POST")).text).toBe(SCORED);
      client.write(upload.subarray(upload.length - size + 50));
      await eventually(() => expect(seen).toEqual([size]));
      if (asks.length > 0) expect(await client.incoming.ended).toBe("fin");
      client.destroy();
      if (says.length > 0) await upstream.quiet();
    }
  });

  it("uses no connection again that the upstream said it would close", async () => {
    const upstream = await startUpstream(({ write }) =>
      write(answer(SCORED, { headers: [CLOSE] })),
    );
    const proxy = await startInMode(mode, upstream);
    const client = await openClient(proxy.url);
    for (let round = 0; round < 3; round += 1) {
      const upload = request("POST", "/verify", { body: "x".repeat(1000) });
      client.write(upload.subarray(0, -100));
      expect((await client.reply("POST")).text).toBe(SCORED);
      client.write(upload.subarray(-100));
      await (
        await upstream.arrived(round + 1)
      ).whole;
    }
    expect(upstream.requests.map(({ connection }) => connection)).toEqual([0, 1, 2]);
  });

  it("ends its upstream request when its client leaves with the upload unfinished", async () => {
    const upstream = await startUpstream(({ write }) => write(SCORED_EARLY));
    const proxy = await startInMode(mode, upstream);
    for (let round = 0; round < 5; round += 1) {
      const client = await openClient(proxy.url);
      const upload = request("POST", "/verify", { body: "x".repeat(1000) });
      client.write(upload.subarray(0, -100));
      await client.reply("POST");
      client.destroy();
    }
    await upstream.quiet();
    await eventually(() => expect(proxy.gate.inFlight()).toBe(0));
  });
});

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
