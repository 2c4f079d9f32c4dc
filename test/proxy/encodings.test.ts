import { readFileSync } from "node:fs";
import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { detectMask } from "../../src/mask/verdict.js";
import { endToEnd, valuesOf } from "../helpers/http-bytes.js";
import { answer, chunkedAnswer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

const zstd = (zlib as { zstdCompressSync?: (data: Buffer) => Buffer }).zstdCompressSync;

const halves = (text: string): [Buffer, Buffer] => [
  Buffer.from(text.slice(0, 50)),
  Buffer.from(text.slice(50)),
];

type Encode = (text: string) => Buffer;

// A09: each coding that a client may offer, and each way to write it.
const READABLE: readonly (readonly [name: string, coding: string, encode: Encode])[] = [
  ["gzip", "gzip", (text) => zlib.gzipSync(text)],
  ["x-gzip", "x-gzip", (text) => zlib.gzipSync(text)],
  ["gzip in capitals", "GZip", (text) => zlib.gzipSync(text)],
  [
    "gzip in two members",
    "gzip",
    (text) => Buffer.concat(halves(text).map((half) => zlib.gzipSync(half))),
  ],
  ["br", "br", (text) => zlib.brotliCompressSync(text)],
  ["deflate with zlib's frame", "deflate", (text) => zlib.deflateSync(text)],
  ["deflate raw", "deflate", (text) => zlib.deflateRawSync(text)],
  ["gzip over br", "br, gzip", (text) => zlib.gzipSync(zlib.brotliCompressSync(text))],
  ["identity", "identity", (text) => Buffer.from(text)],
  ["identity and gzip", "identity, gzip", (text) => zlib.gzipSync(text)],
];
if (zstd !== undefined)
  Object.assign(READABLE, [
    ...READABLE,
    ["zstd", "zstd", (text: string) => zstd(Buffer.from(text))],
    ["zstd in two frames", "zstd", (text: string) => Buffer.concat(halves(text).map(zstd))],
  ]);

const coded = (coding: string, bytes: Buffer): Buffer =>
  answer(bytes, { headers: [["Content-Encoding", coding]] });

describe("a masked answer", () => {
  it.each(READABLE)("in %s becomes the error, in plain text", async (_, coding, encode) => {
    const { reply } = await through(coded(coding, encode(MASKED)));
    expect(reply.reason).toBe("Masked: judge_failed: the judge is gone");
    expect(valuesOf(reply.fields, "content-encoding")).toEqual([]);
    expect(valuesOf(reply.fields, "content-length")).toEqual([String(reply.body.length)]);
    expect(JSON.parse(reply.text)).toMatchObject({ detail: "the judge is gone" });
  });

  it("in gzip, cut into chunks of one byte, becomes the error", async () => {
    const bytes = zlib.gzipSync(MASKED);
    const parts = Array.from(bytes, (byte) => Buffer.from([byte]));
    const { reply } = await through(chunkedAnswer(parts, [["Content-Encoding", "gzip"]]));
    expect(reply.status).toBe(503);
  });

  it.each(READABLE)(
    "in %s, cut into two chunks anywhere, becomes the error",
    async (_, coding, encode) => {
      const bytes = encode(MASKED);
      const upstream = await startUpstream(async ({ whole, received, write }) => {
        await whole;
        const at = Number(received.target.split("?")[1]);
        const parts = [bytes.subarray(0, at), bytes.subarray(at)];
        write(chunkedAnswer(parts, [["Content-Encoding", coding]]));
      });
      const proxy = await startProxy(upstream);
      for (let at = 1; at < bytes.length; at += bytes.length > 200 ? 7 : 1) {
        const reply = await rawRequest(proxy.url, request("POST", `/verify?${at}`, { body: "{}" }));
        expect([at, reply.status]).toEqual([at, 503]);
      }
    },
  );

  it("whose codings stand in two lines becomes the error", async () => {
    const bytes = zlib.gzipSync(zlib.brotliCompressSync(MASKED));
    const headers = [
      ["Content-Encoding", "br"],
      ["Content-Encoding", "gzip"],
    ] as const;
    expect((await through(answer(bytes, { headers }))).reply.status).toBe(503);
  });
});

describe("a scored answer", () => {
  it.each(READABLE)("in %s keeps its bytes", async (_, coding, encode) => {
    const bytes = encode(SCORED);
    const { reply } = await through(coded(coding, bytes));
    expect(reply.status).toBe(200);
    expect(endToEnd(reply.fields)).toEqual([
      ["Content-Encoding", coding],
      ["content-type", "application/json"],
      ["content-length", String(bytes.length)],
    ]);
    expect(reply.body.equals(bytes)).toBe(true);
  });
});

const GZIP = zlib.gzipSync(MASKED);
const damaged = Buffer.from(GZIP);
damaged.writeUInt32BE(0xdeadbeef, 30);
// One member of a megabyte of spaces, a thousand times over: 1 GB out of one MB.
const MEGABYTE = zlib.gzipSync(Buffer.alloc(1024 * 1024, " "), { level: 9 });
const BOMB = Buffer.concat([
  ...Array.from({ length: 1024 }, () => MEGABYTE),
  zlib.gzipSync(MASKED),
]);
const bomb = (compress: (data: Buffer) => Buffer): Buffer =>
  compress(Buffer.from(" ".repeat(32 * 1024 * 1024) + MASKED));

// The outer members part the inner one where a lenient reader has seen the masked answer whole.
const MEMBERS_IN_MEMBERS = Buffer.concat(
  [GZIP.subarray(0, -4), GZIP.subarray(-4)].map((part) => zlib.gzipSync(part)),
);

const UNREADABLE: (readonly [name: string, coding: string, bytes: Buffer])[] = [
  ["an unknown coding", "x-unknown", Buffer.from(MASKED)],
  ["an unknown coding over gzip", "gzip, x-unknown", GZIP],
  ["gzip cut in half", "gzip", GZIP.subarray(0, GZIP.length / 2)],
  ["gzip without its last byte", "gzip", GZIP.subarray(0, -1)],
  ["damaged gzip", "gzip", damaged],
  ["br cut in half", "br", zlib.brotliCompressSync(MASKED).subarray(0, 40)],
  // Clients read no further than the first end; a decoder that does the same would not see what a more curious one does.
  ...(
    [
      ["br", zlib.brotliCompressSync],
      ["deflate", zlib.deflateSync],
    ] as const
  ).flatMap(([coding, pack]): [string, string, Buffer][] => [
    [`a mask in ${coding} behind the end`, coding, Buffer.concat([pack(SCORED), pack(MASKED)])],
    [`bytes behind the end of ${coding}`, coding, Buffer.concat([pack(SCORED), Buffer.from("x")])],
  ]),
  ["gzip behind zero bytes", "gzip", Buffer.concat([zlib.gzipSync(SCORED), Buffer.alloc(9), GZIP])],
  [
    "bytes behind the end of gzip",
    "gzip",
    Buffer.concat([zlib.gzipSync(SCORED), Buffer.from("xyz")]),
  ],
  // httpx reads the first member alone, aiohttp and requests read all of them.
  ["gzip(masked) before gzip(scored)", "gzip", Buffer.concat([GZIP, zlib.gzipSync(SCORED)])],
  ["gzip(scored) before gzip(masked)", "gzip", Buffer.concat([zlib.gzipSync(SCORED), GZIP])],
  ["gzip(masked) before gzip(no JSON)", "gzip", Buffer.concat([GZIP, zlib.gzipSync("x")])],
  [
    "gzip of a masked answer whose first member only looks like an object",
    "gzip",
    Buffer.concat(
      ['{"response":{}', ',"reward":0,"mask_sample":true}'].map((part) => zlib.gzipSync(part)),
    ),
  ],
  ["gzip in two members under another gzip", "gzip, gzip", MEMBERS_IN_MEMBERS],
  // Each may give as much as one may, and hours of work fit into a header.
  [
    "six codings, one over the other",
    "gzip, gzip, gzip, gzip, gzip, gzip",
    Array.from({ length: 6 }).reduce<Buffer>((data) => zlib.gzipSync(data), Buffer.from(SCORED)),
  ],
  ["plain text that calls itself gzip", "gzip", Buffer.from(MASKED)],
  ["1 GB in gzip", "gzip", BOMB],
  [
    "32 MB in br",
    "br",
    bomb((data) =>
      zlib.brotliCompressSync(data, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ),
  ],
  ["32 MB in deflate", "deflate", bomb((data) => zlib.deflateSync(data, { level: 1 }))],
];

if (zstd !== undefined) {
  const whole = zstd(Buffer.from(SCORED));
  UNREADABLE.push(
    ["zstd cut in half", "zstd", whole.subarray(0, whole.length / 2)],
    ["zstd without its last byte", "zstd", whole.subarray(0, -1)],
    [
      "zstd without its last byte behind a whole frame",
      "zstd",
      Buffer.concat([whole, whole.subarray(0, -1)]),
    ],
    [
      "the first byte of zstd behind a whole frame",
      "zstd",
      Buffer.concat([whole, whole.subarray(0, 1)]),
    ],
    ["no byte of zstd", "zstd", Buffer.alloc(0)],
  );
}

describe("an answer that nobody can read", () => {
  it.each(UNREADABLE)(
    "(%s) is 502 for a strict client, and the proxy goes on",
    async (_, coding, bytes) => {
      const { reply, proxy } = await through(coded(coding, bytes), verify(), {
        maxAnswerBytes: 4 * 1024 * 1024,
      });
      expect(reply.status).toBe(502);
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
      expect(valuesOf(reply.fields, "content-encoding")).toEqual([]);
      expect(reply.complete).toBe(true);
      expect(proxy.logged("uninspectable")).toHaveLength(1);
      expect((await rawRequest(proxy.url, verify())).status).toBe(502);
    },
  );

  it.each(UNREADABLE)("(%s) passes on a passthrough route", async (_, coding, bytes) => {
    const { reply } = await through(coded(coding, bytes), verify(), {
      maskedAsError: false,
      maxAnswerBytes: 1024,
    });
    expect(reply.status).toBe(200);
    expect(reply.body.equals(bytes)).toBe(true);
  });

  it.each(UNREADABLE)(
    "(%s) passes on an observe route, with a warning, and the proxy goes on",
    async (_, coding, bytes) => {
      const upstream = await startUpstream(coded(coding, bytes));
      const proxy = await startInMode("observe", upstream, "maxAnswerBytes: 4194304");
      for (const n of [1, 2]) {
        expect((await rawRequest(proxy.url, verify())).body.equals(bytes)).toBe(true);
        await proxy.nextLog("uninspectable", n);
      }
      expect(proxy.logged("let_through")).toEqual([]);
    },
  );

  it("but is not 200 passes", async () => {
    const bytes = answer("odd", {
      status: 404,
      reason: "Not Found",
      headers: [["Content-Encoding", "x-unknown"]],
    });
    const { reply } = await through(bytes);
    expect(reply.status).toBe(404);
    expect(reply.text).toBe("odd");
  });
});

// JSON whose bytes are raw deflate data as well: text of letters, digits and marks that no reader of JSON takes for one.
const MASKED_AS_IT_STANDS = readFileSync(
  new URL("../fixtures/json-and-deflate.txt", import.meta.url),
);

describe("an answer that is masked as it stands, and no object unpacked", () => {
  it("is both", () => {
    expect(detectMask(MASKED_AS_IT_STANDS).verdict).toBe("masked");
    expect(detectMask(zlib.inflateRawSync(MASKED_AS_IT_STANDS)).verdict).toBe("unknown");
  });

  // aiohttp (3.14.5) takes the last two for no coding at all and reads the bytes as they came.
  it.each(["deflate", "identity, deflate", "deflate,"])(
    "is 502 for a strict client: %s",
    async (coding) => {
      const { reply } = await through(coded(coding, MASKED_AS_IT_STANDS));
      expect(reply.status).toBe(502);
      expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
    },
  );

  it("passes on a passthrough route", async () => {
    const { reply } = await through(coded("deflate,", MASKED_AS_IT_STANDS), verify(), {
      maskedAsError: false,
    });
    expect(valuesOf(reply.fields, "content-encoding")).toEqual(["deflate,"]);
    expect(reply.body.equals(MASKED_AS_IT_STANDS)).toBe(true);
  });
});

// {"reward":0,"mask_sample":true} in code page 037, which requests (2.34.2) guesses where no charset is given.
const EBCDIC = Buffer.from("c07f9985a68199847f7af06b7f9481a2926da281949793857f7aa399a485d0", "hex");

describe("an answer in EBCDIC", () => {
  const bytes = answer(EBCDIC, { headers: [["Content-Type", "application/octet-stream"]] });

  it("is 502 for a strict client", async () => {
    const { reply } = await through(bytes);
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
  });

  it("passes on a passthrough route", async () => {
    const { reply } = await through(bytes, verify(), { maskedAsError: false });
    expect(reply.body.equals(EBCDIC)).toBe(true);
  });
});

it.each([
  ["nothing", ""],
  ["an array", "[1]"],
  ["a number", "1"],
  ["text of JSON", '"é"'],
  ["HTML", "<html>é</html>"],
  ["text that begins with é", "été"],
  ["text behind a byte order mark", "\ufefftext"],
  ["text in Latin-1", Buffer.from("\xe9t\xe9", "latin1")],
  ["the bytes of a picture", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a])],
])("an answer that is no object passes on a strict route: %s", async (_, body) => {
  const bytes = answer(body, { headers: [["Content-Type", "application/octet-stream"]] });
  const { reply } = await through(bytes);
  expect(reply.status).toBe(200);
  expect(reply.body.equals(Buffer.from(body as string))).toBe(true);
});

const offered = async (value: string, maskedAsError: boolean): Promise<string[]> => {
  const { upstream } = await through(answer(SCORED), verify([["Accept-Encoding", value]]), {
    maskedAsError,
  });
  return upstream.requests.flatMap(({ fields }) => valuesOf(fields, "accept-encoding"));
};

describe("the codings that the upstream is offered", () => {
  it("are the client's own where all of them can be read", async () => {
    expect(await offered("gzip, deflate", true)).toEqual(["gzip, deflate"]);
    expect(await offered("br;q=0.5, identity;q=0", true)).toEqual(["br;q=0.5, identity;q=0"]);
  });

  it.each(["gzip, x-unknown", "x-unknown;q=1, *", "*", "compress"])(
    "hold nothing on a strict route that cannot be read: %s",
    async (value) => {
      const members = (await offered(value, true))
        .flatMap((list) => list.split(","))
        .map((member) => (member.split(";")[0] ?? "").trim());
      expect(members).not.toEqual([]);
      for (const member of members) {
        expect(["gzip", "deflate", "br", "zstd", "identity"]).toContain(member);
      }
    },
  );

  it("are untouched on a passthrough route", async () => {
    expect(await offered("gzip, x-unknown, *", false)).toEqual(["gzip, x-unknown, *"]);
  });
});

// aiohttp and requests decode JSON by the charset of its type, httpx does not look at it.
describe("an answer in a charset that is not like ASCII", () => {
  const typed = (charset: string, bytes: Buffer): Buffer =>
    answer(bytes, { headers: [["Content-Type", `application/json; charset=${charset}`]] });

  const CASES: readonly (readonly [charset: string, bytes: Buffer])[] = [
    ["utf-7", Buffer.from('{"reward":0,"mask+AF8-sample":true}')],
    ["utf-8; charset\xc2\xa0=utf-7", Buffer.from('{"reward":0,"mask+AF8-sample":true}')],
    ["shift_jis", Buffer.from('{"mask_sample":true,"x":"\x83\x5c"}', "latin1")],
  ];

  it.each(CASES)("is refused on a strict route: %s", async (charset, bytes) => {
    const { reply } = await through(typed(charset, bytes));
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
  });

  it.each(CASES)("passes as it is on a passthrough route: %s", async (charset, bytes) => {
    const { reply } = await through(typed(charset, bytes), verify(), { maskedAsError: false });
    expect(reply.body.equals(bytes)).toBe(true);
  });
});
