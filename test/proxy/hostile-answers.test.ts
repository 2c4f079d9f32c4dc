import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

const MILLION = 1_000_000;
const keys = Array.from({ length: MILLION }, (_, n) => `"k${n}":${n}`).join(",");
const MASK = '"mask_sample":true,"failure_kind":"k","failure_reason":"r"';
const NO_MASK = '"reward":1.0,"mask_sample":false';
const nested = (open: string, close: string, inside = ""): string =>
  `${open.repeat(MILLION)}${inside}${close.repeat(MILLION)}`;

/** Where a mask stands beside something enormous; the same with none is scored. */
const SHAPES: readonly (readonly [name: string, make: (members: string) => string])[] = [
  ["a million keys before it", (members) => `{${keys},${members}}`],
  ["a million keys behind it", (members) => `{${members},${keys}}`],
  ["a million brackets before it", (members) => `{"a":${nested("[", "]")},${members}}`],
  ["a million brackets behind it", (members) => `{${members},"a":${nested("[", "]")}}`],
  ["a million braces", (members) => `{"a":${nested('{"a":', "}", "1")},${members}}`],
  ["a million escapes", (members) => `{"a":"${String.raw`\"\\`.repeat(MILLION)}",${members}}`],
  [
    "a million masks in a text",
    (members) => `{"a":${JSON.stringify(`"${MASK}"`.repeat(30_000))},${members}}`,
  ],
  [
    "a mask unsaid a million times deeper",
    (members) => `{${members},"a":[${'{"mask_sample":false},'.repeat(100_000)}0]}`,
  ],
  [
    "names of every object",
    (members) =>
      `{"__proto__":{${MASK}},"constructor":{"prototype":{${MASK}}},"toString":1,"hasOwnProperty":1,${members}}`,
  ],
];

describe("a mask beside something enormous", () => {
  it.each(SHAPES)("is found: %s", async (_, make) => {
    const { reply } = await through(answer(make(MASK)));
    expect(reply.line).toBe("HTTP/1.1 503 Masked: k: r");
  });

  it.each(SHAPES)("is not made up: %s", async (_, make) => {
    const body = make(NO_MASK);
    const { reply } = await through(answer(body));
    expect(reply.status).toBe(200);
    expect(reply.text === body).toBe(true);
  });

  it.each([
    nested("[", ""),
    nested("{", ""),
    nested('{"a":', ""),
    nested("", "]"),
    '"'.repeat(MILLION),
  ])("is no reason to fail where nothing is closed", async (body) => {
    const { reply, proxy } = await through(answer(body));
    expect(reply.status).toBe(200);
    expect(reply.text === body).toBe(true);
    expect(proxy.logged("internal_error")).toEqual([]);
  });
});

/** An answer of 45 MB whose mask is told by its very first member, so that all of it is walked. */
const HUGE = `{${MASK},"a":"${String.raw`x\"`.repeat(15_000_000)}"}`;
const digest = (bytes: string): string => createHash("sha256").update(bytes).digest("hex");

/** The status and the body's hash of one request's reply, without keeping its bytes: what a real client costs this process. */
async function fetchHash(url: string): Promise<{ status: number; hash: string }> {
  const asked = httpRequest(`${url}/verify?huge`, { method: "POST", agent: false });
  asked.end("{}");
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  const hash = createHash("sha256");
  for await (const part of reply) hash.update(part as Buffer);
  return { status: reply.statusCode ?? 0, hash: hash.digest("hex") };
}

describe.each(MODES)("in mode %s", (mode) => {
  it("answers of 45 MB hold up no quick one", async () => {
    const upstream = await startUpstream(async ({ received, whole, write }) => {
      await whole;
      write(answer(received.target.endsWith("?huge") ? HUGE : SCORED));
    });
    const proxy = await startInMode(mode, upstream);
    let arrived = 0;
    const huge = Array.from({ length: 3 }, async () => {
      const found = await fetchHash(proxy.url);
      arrived += 1;
      return found;
    });
    const client = await openClient(proxy.url);
    let quick = 0;
    while (arrived < huge.length) {
      client.write(verify());
      expect((await client.reply("POST")).text).toBe(SCORED);
      quick += 1;
    }
    // How often the walk lets others go first is counted by test/unit/proxy/drive; here all of it is together.
    expect(quick).toBeGreaterThan(6);
    for (const { status, hash } of await Promise.all(huge)) {
      expect(status).toBe(mode === "strict" ? 503 : 200);
      if (mode !== "strict") expect(hash).toBe(digest(HUGE));
    }
  }, 60_000);

  it("an answer to another path says nothing, whatever it holds", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startInMode(mode, upstream);
    for (const target of ["/verify/", "/seed_session", "/verify%00", "/__proto__/verify"]) {
      const reply = await rawRequest(proxy.url, request("POST", target, { body: "{}" }));
      expect(reply.text).toBe(MASKED);
    }
    expect(proxy.logged("let_through")).toEqual([]);
  });
});
