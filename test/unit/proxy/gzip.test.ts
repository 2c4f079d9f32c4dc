import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstMemberSize } from "../../../src/proxy/gzip.js";

interface Header {
  readonly extra: Uint8Array | undefined;
  readonly name: string | undefined;
  readonly comment: string | undefined;
  readonly crc: boolean;
}

const text = fc.option(
  fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)) }),
  { nil: undefined },
);
const headers: fc.Arbitrary<Header> = fc.record({
  extra: fc.option(fc.uint8Array(), { nil: undefined }),
  name: text,
  comment: text,
  crc: fc.boolean(),
});

/** One gzip member with these fields in its header (RFC 1952 §2.3). */
function member(plain: Uint8Array, { extra, name, comment, crc }: Header): Buffer {
  const packed = gzipSync(plain);
  const [hasExtra, hasName, hasComment] = [extra, name, comment].map((part) => part !== undefined);
  packed[3] = (hasExtra ? 4 : 0) | (hasName ? 8 : 0) | (hasComment ? 16 : 0) | (crc ? 2 : 0);
  const size = Buffer.alloc(2);
  size.writeUInt16LE(extra?.length ?? 0);
  return Buffer.concat([
    packed.subarray(0, 10),
    ...(extra === undefined ? [] : [size, extra]),
    ...[name, comment].flatMap((part) =>
      part === undefined ? [] : [Buffer.from(`${part}\0`, "latin1")],
    ),
    Buffer.alloc(crc ? 2 : 0),
    packed.subarray(10),
  ]);
}

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0;
  for (const size of sizes) yield bytes.subarray(at, (at += size));
  yield bytes.subarray(at);
}

describe("the size of gzip's first member", () => {
  it("is what that member gives, whatever its header holds and however the data is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        headers,
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 }),
        async (first, header, second, sizes) => {
          const packed = Buffer.concat([member(first, header), gzipSync(second)]);
          expect(await firstMemberSize(cut(packed, sizes))).toBe(first.length);
        },
      ),
    );
  });

  it("is not looked for behind an endless header", async () => {
    const packed = Buffer.concat([
      gzipSync("x").subarray(0, 3),
      Buffer.from([8]),
      Buffer.alloc(70_000, "n"),
    ]);
    await expect(firstMemberSize(cut(packed, []))).rejects.toThrow("header");
  });
});
