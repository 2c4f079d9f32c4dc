import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunkedAnswer, request, SCORED, verify } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest, type Reply } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

type Translation = "null" | "mirror" | "nan";
const ALL: readonly Translation[] = ["null", "mirror", "nan"];

const strict = (translation: Translation): string =>
  `routes: [{name: s, mode: strict, translation: ${translation}}]`;

async function send(
  translation: Translation,
  bytes: Buffer,
  asking = verify(),
): Promise<{ reply: Reply; proxy: Proxy }> {
  const proxy = await startConfigured(await startUpstream(bytes), strict(translation));
  return { reply: await rawRequest(proxy.url, asking), proxy };
}

// Numbers that a second writing would change, a line separator, and texts that look like members.
const REST =
  '"response":{"id":12345678901234567890,"t":"\\"reward\\":1 \u2028超"},"tail":[1.0,1e400,NaN,-0.0]';
const BODY = `{"mask_sample":true,"reward":0.0,"instance_config":{"a":1.0,"mask_sample":false},${REST}}`;

const AFTER: Record<Translation, string> = {
  null: BODY.replace("0.0,", "null,"),
  nan: BODY.replace("0.0,", "NaN,"),
  mirror: BODY.replace('"mask_sample":false', '"mask_sample":true'),
};

const KEPT: readonly Field[] = [
  ["date", "Mon, 30 Nov 2026 00:00:00 GMT"],
  ["X-MixedCase", "1"],
  ["Vary", "Cookie"],
  ["vary", "Accept"],
  ["set-cookie", "Gym___gym=eyJzIjoxfQ==.abc.def; path=/; httponly"],
  ["Set-Cookie", "b=2"],
  ["content-type", "application/json"],
];

const OF_THE_OLD_BYTES: readonly Field[] = [
  ["ETag", '"1"'],
  ["Content-MD5", "x"],
  ["Digest", "sha-256=x"],
  ["Content-Digest", "sha-256=:x:"],
  ["Repr-Digest", "sha-256=:x:"],
  ["Maskgate-Verdict", "upstream-error"],
];

const length = (text: string): number => Buffer.byteLength(text);

describe.each(ALL)("translation %s", (translation) => {
  const after = AFTER[translation];

  it("changes one value of the answer, its length, and what was true of the old bytes", async () => {
    const headers = [...OF_THE_OLD_BYTES.slice(0, 2), ...KEPT, ...OF_THE_OLD_BYTES.slice(2)];
    const { reply, proxy } = await send(translation, answer(BODY, { headers }));
    expect(reply.line).toBe("HTTP/1.1 200 OK");
    expect(endToEnd(reply.fields)).toEqual([
      ...KEPT,
      ["content-length", String(length(after))],
      ["maskgate-verdict", "masked"],
    ]);
    expect(reply.text).toBe(after);
    expect(await proxy.nextLog("translated")).toMatchObject({
      level: 30,
      status: 200,
      translation,
      verdict: "masked",
    });
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it.each([
    ["two chunks", [BODY.slice(0, 30), BODY.slice(30)]],
    ["chunks of one byte", Array.from(Buffer.from(BODY), (byte) => Buffer.of(byte))],
  ])("keeps an answer in %s chunked", async (_, parts) => {
    const { reply } = await send(translation, chunkedAnswer(parts, [["ETag", '"1"']]));
    expect(reply.text).toBe(after);
    expect(reply.complete).toBe(true);
    expect(valuesOf(reply.fields, "transfer-encoding")).toEqual(["chunked"]);
    expect(valuesOf(reply.fields, "content-length")).toEqual([]);
    expect(valuesOf(reply.fields, "etag")).toEqual([]);
  });

  it.each([
    ["gzip", gzipSync(BODY)],
    ["br, gzip", gzipSync(brotliCompressSync(BODY))],
    ["identity", Buffer.from(BODY)],
  ])("sends an answer in %s as plain text", async (coding, bytes) => {
    const headers: Field[] = [["Content-Encoding", coding]];
    const { reply } = await send(translation, answer(bytes, { headers }));
    expect(reply.text).toBe(after);
    expect(valuesOf(reply.fields, "content-encoding")).toEqual([]);
    expect(valuesOf(reply.fields, "content-length")).toEqual([String(length(after))]);
    const chunked = await send(
      translation,
      chunkedAnswer([bytes.subarray(0, 20), bytes.subarray(20)], headers),
    );
    expect(chunked.reply.text).toBe(after);
    expect(valuesOf(chunked.reply.fields, "content-encoding")).toEqual([]);
  });

  it("ends the body with the connection for an HTTP/1.0 client of a chunked answer", async () => {
    const asking = request("POST", "/verify", { body: "{}", version: "1.0" });
    const { reply } = await send(translation, chunkedAnswer([BODY]), asking);
    expect([reply.text, reply.complete]).toEqual([after, true]);
    expect(valuesOf(reply.fields, "transfer-encoding")).toEqual([]);
  });

  it("leaves the connection usable", async () => {
    const { proxy } = await send(translation, answer(BODY));
    expect((await rawRequest(proxy.url, verify())).text).toBe(after);
  });

  it("leaves a scored answer as it is", async () => {
    const { reply } = await send(translation, answer(SCORED, { headers: OF_THE_OLD_BYTES }));
    expect(reply.text).toBe(SCORED);
    expect(endToEnd(reply.fields)).toEqual([
      ...OF_THE_OLD_BYTES,
      ["content-type", "application/json"],
      ["content-length", String(SCORED.length)],
    ]);
  });

  it("finds its place behind a byte order mark", async () => {
    const { reply } = await send(translation, answer(`\ufeff${BODY}\n`));
    expect(reply.body.equals(Buffer.from(`\ufeff${after}\n`))).toBe(true);
  });
});

const CASES: readonly (readonly [string, Translation, string, string])[] = [
  [
    "pretty-printed",
    "null",
    '{\r\n\t"reward" : 0.0 ,\r\n\t"mask_sample" : true\r\n}\r\n',
    '{\r\n\t"reward" : null ,\r\n\t"mask_sample" : true\r\n}\r\n',
  ],
  [
    "pretty-printed",
    "mirror",
    '{\n  "instance_config" : {\n    "a": 1\n  },\n  "mask_sample": true\n}',
    '{\n  "instance_config" : {"mask_sample":true,\n    "a": 1\n  },\n  "mask_sample": true\n}',
  ],
  [
    "doubled",
    "nan",
    '{"reward":1,"mask_sample":true,"reward":{"a":[0,"}"]}}',
    '{"reward":1,"mask_sample":true,"reward":NaN}',
  ],
  [
    "doubled",
    "mirror",
    '{"instance_config":{"mask_sample":true},"instance_config":{"mask_sample":true,"mask_sample":0},"mask_sample":1}',
    '{"instance_config":{"mask_sample":true},"instance_config":{"mask_sample":true,"mask_sample":true},"mask_sample":1}',
  ],
  ["missing", "null", '{"mask_sample":true}', '{"mask_sample":true,"reward":null}'],
  ["missing", "nan", '{"mask_sample":true }\n', '{"mask_sample":true ,"reward":NaN}\n'],
  [
    "missing",
    "mirror",
    '{"mask_sample":true}',
    '{"mask_sample":true,"instance_config":{"mask_sample":true}}',
  ],
  [
    "no object",
    "mirror",
    '{"instance_config":"x","mask_sample":true}',
    '{"instance_config":{"mask_sample":true},"mask_sample":true}',
  ],
  [
    "escaped",
    "null",
    '{"\\u0072eward":"0.5","mask\\u005fsample":true}',
    '{"\\u0072eward":null,"mask\\u005fsample":true}',
  ],
  [
    "below alone",
    "null",
    '{"response":{"reward":1},"mask_sample":true,"text":"\\"reward\\":2"}',
    '{"response":{"reward":1},"mask_sample":true,"text":"\\"reward\\":2","reward":null}',
  ],
  [
    "null already",
    "null",
    '{"reward":null,"mask_sample":true}',
    '{"reward":null,"mask_sample":true}',
  ],
];

it.each(CASES)(
  "a member that is %s under translation %s",
  async (_, translation, before, after) => {
    const { reply } = await send(translation, answer(before));
    expect(reply.text).toBe(after);
    expect(valuesOf(reply.fields, "content-length")).toEqual([String(length(after))]);
    const inChunks = Array.from(Buffer.from(before), (byte) => Buffer.of(byte));
    expect((await send(translation, chunkedAnswer(inChunks))).reply.text).toBe(after);
  },
);
