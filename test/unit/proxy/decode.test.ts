import zlib from "node:zlib";
import { afterEach, expect, it, vi } from "vitest";
import { decode } from "../../../src/proxy/decode.js";
import { Hold, HoldBudget } from "../../../src/proxy/hold.js";

afterEach(() => {
  vi.restoreAllMocks();
});

it("has four decoders of br at most, whose windows no limit counts, however many answers there are", async () => {
  const make = zlib.createBrotliDecompress;
  let open = 0;
  let most = 0;
  vi.spyOn(zlib, "createBrotliDecompress").mockImplementation((...options) => {
    const decoder = make(...options);
    open += 1;
    most = Math.max(most, open);
    decoder.once("close", () => {
      open -= 1;
    });
    return decoder;
  });
  const plain = Buffer.alloc(1024 * 1024, "x");
  const packed = zlib.brotliCompressSync(plain);
  const budget = new HoldBudget(64 * 1024 * 1024);
  const unpackOne = async (): Promise<number> => {
    const held = new Hold(budget, packed.length);
    await held.push(packed);
    await held.end();
    const { chunks } = await decode(held, ["br"], budget, plain.length);
    const { size } = chunks;
    chunks.release();
    held.release();
    return size;
  };
  const sizes = await Promise.all(Array.from({ length: 40 }, unpackOne));
  expect(new Set(sizes)).toEqual(new Set([plain.length]));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(4);
});
