import type { RequestListener } from "node:http";
import fc from "fast-check";
import { expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { valuesOf } from "../helpers/http-bytes.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, chunkedAnswer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient, type RawClient, rawRequest, type Reply } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";
import { answers } from "../unit/mask/documents.js";
import { oracle } from "../unit/mask/oracle.js";
import { fuzz } from "./budget.js";

/** Whether a client that parses this body finds it masked. */
function isMasked(body: string): boolean {
  try {
    return oracle(body).verdict === "masked";
  } catch {
    return false;
  }
}

/** Resolves when a connection has an answer or is closed. */
const settled = async (client: RawClient): Promise<unknown> =>
  Promise.race([client.incoming.ended, client.reply("POST").catch(() => undefined)]);

/** A server of Node's own that answers each whole request: what it answers, or closes, no proxy may leave without an end. */
async function startPlain(): Promise<string> {
  const serve: RequestListener = (asked, reply) => {
    asked.resume().once("end", () => reply.end(SCORED));
  };
  const { url, server } = await startHttpUpstream(serve, { requireHostHeader: false });
  server.on("checkExpectation", serve);
  return url;
}

const snippets = fc.constantFrom(
  ...[
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    " ",
    "\t",
    "\x00",
    "\x7f",
    "\xff",
    ":",
    "0\r\n\r\n",
    "5\r\nhello\r\n",
  ],
  ...[
    "Transfer-Encoding: chunked\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Host: x\r\n",
  ],
  ...["POST /verify HTTP/1.1\r\n", "GET / HTTP/1.1\r\n", "HTTP/1.0", "Connection: close\r\n"],
  ...[
    "Upgrade: websocket\r\n",
    "Upgrade: h2c\r\n",
    "Connection: upgrade\r\n",
    "Expect: 100-continue\r\n",
  ],
);

/** A good message with pieces put in, cut out and overwritten. */
const damaged = (good: Buffer): fc.Arbitrary<Buffer> =>
  fc
    .array(
      fc.tuple(fc.nat(good.length), fc.nat(3), fc.oneof(snippets, fc.string({ maxLength: 4 }))),
      {
        maxLength: 4,
      },
    )
    .map((edits) => {
      let text = good.toString("latin1");
      for (const [at, cut, put] of edits) text = text.slice(0, at) + put + text.slice(at + cut);
      return Buffer.from(text, "latin1");
    });

it.each(MODES)("any bytes of a client leave the proxy serving, in mode %s", async (mode) => {
  const upstream = await startUpstream(async ({ whole, write }) => {
    await whole;
    write(answer(SCORED));
  });
  const proxy = await startInMode(mode, upstream);
  const plain = await startPlain();
  const requests = fc
    .tuple(
      damaged(verify([["X-A", "1"]])),
      fc.constantFrom(verify(), request("GET", "/t"), Buffer.alloc(0)),
    )
    .map(([first, second]) => Buffer.concat([first, second]));
  await fuzz(
    `requests, ${mode}`,
    fc.asyncProperty(requests, async (bytes) => {
      const [client, beside] = [await openClient(proxy.url), await openClient(plain)];
      for (const each of [client, beside]) each.write(bytes);
      const sane = async (url: string): Promise<Reply> => rawRequest(url, verify());
      const isEnded = await Promise.race([
        settled(beside).then(() => true),
        sane(plain).then(() => false),
      ]);
      if (isEnded) await settled(client);
      else await Promise.race([settled(client), sane(proxy.url)]);
      for (const each of [client, beside]) each.reset();
      expect((await sane(proxy.url)).text).toBe(SCORED);
      expect(proxy.logged("internal_error")).toEqual([]);
    }) as never,
  );
});

it.each(MODES)(
  "any bytes of an upstream never make a masked answer a score, and leave the proxy serving, in mode %s",
  async (mode) => {
    let says: Buffer = answer(SCORED);
    const upstream = await startUpstream(async ({ whole, end }) => {
      await whole;
      end(says);
    });
    const proxy = await startInMode(mode, upstream);
    const bytes = fc.oneof(
      damaged(answer(MASKED)),
      damaged(chunkedAnswer([MASKED.slice(0, 60), MASKED.slice(60)])),
      damaged(Buffer.concat([Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"), answer(MASKED)])),
    );
    await fuzz(
      `answers, ${mode}`,
      fc.asyncProperty(bytes, async (wire) => {
        says = wire;
        const reply = await rawRequest(proxy.url, verify()).catch(() => undefined);
        if (mode === "strict" && reply?.status === 200) expect(isMasked(reply.text)).toBe(false);
        if (
          reply?.status === 503 &&
          reply.complete &&
          valuesOf(reply.fields, "maskgate-verdict").length > 0
        ) {
          expect(mode).toBe("strict");
          expect(wire.includes("mask_sample")).toBe(true);
        }
        expect(proxy.logged("internal_error")).toEqual([]);
      }) as never,
    );
  },
);

it.each(MODES)(
  "no byte of an answer changes, and each verdict is right, in mode %s",
  async (mode) => {
    let says: Buffer = answer(SCORED);
    const upstream = await startUpstream(async ({ whole, write }) => {
      await whole;
      write(says);
    });
    const proxy = await startInMode(mode, upstream);
    let client = await openClient(proxy.url);
    closeLater(() => client.destroy());
    const cases = fc.tuple(answers, fc.boolean());
    await fuzz(
      `documents, ${mode}`,
      fc.asyncProperty(cases, async ([{ wire, plain }, inChunks]) => {
        const body = Buffer.from(wire);
        says = inChunks
          ? chunkedAnswer([body.subarray(0, 9), body.subarray(9)].filter((b) => b.length > 0))
          : answer(body);
        client.write(verify());
        const reply = await client.reply("POST");
        const masked = mode === "strict" && isMasked(plain);
        expect(reply.status).toBe(masked ? 503 : 200);
        if (!masked) expect(reply.body.equals(body)).toBe(true);
        if (reply.ended !== "open") client = await openClient(proxy.url);
      }) as never,
    );
  },
);
