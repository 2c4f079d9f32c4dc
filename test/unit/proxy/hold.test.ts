import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Hold, HoldBudget } from "../../../src/proxy/hold.js";

const LARGE = 16 * 1024;
const LIMIT = 64 * 1024 * 1024;

/** The chunks of a hold, which are all in memory, and those that its listener saw. */
function held(chunks: readonly Buffer[]): {
  readonly parts: readonly Buffer[];
  readonly seen: readonly Buffer[];
} {
  const seen: Buffer[] = [];
  const hold = new Hold(new HoldBudget(LIMIT), LIMIT, (chunk) => seen.push(chunk));
  const waits = chunks.map((chunk) => hold.push(chunk));
  expect([...waits, hold.end()].every((wait) => wait === undefined)).toBe(true);
  return { parts: Array.from({ length: hold.count }, (_, n) => hold.chunk(n) as Buffer), seen };
}

describe("a held answer", () => {
  it("of a million chunks of one byte is kept in a few", () => {
    const byte = Buffer.from("x");
    const { parts } = held(Array.from({ length: 1_000_000 }, () => byte));
    expect(parts.length).toBe(Math.ceil(1_000_000 / LARGE));
    expect(Buffer.concat(parts).equals(Buffer.alloc(1_000_000, "x"))).toBe(true);
  });

  it("keeps its bytes in their order, in pieces that are large on average, and its large chunks as they came", () => {
    const length = fc.oneof(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: LARGE * 2 }),
      fc.constantFrom(LARGE - 1, LARGE, LARGE + 1),
    );
    fc.assert(
      fc.property(fc.array(length, { maxLength: 40 }), (lengths) => {
        const chunks = lengths.map((size, n) => Buffer.alloc(size, n + 1));
        const { parts, seen } = held(chunks);
        expect(Buffer.concat(parts).equals(Buffer.concat(chunks))).toBe(true);
        expect(seen.length).toBe(parts.length);
        expect(seen.every((chunk, n) => chunk === parts[n])).toBe(true);
        const large = chunks.filter(({ length: size }) => size >= LARGE);
        expect(large.every((chunk) => parts.includes(chunk))).toBe(true);
        for (const [n, part] of parts.slice(1).entries()) {
          expect(parts[n]!.length + part.length).toBeGreaterThan(LARGE);
        }
      }),
    );
  });

  it("counts what waits to be joined, and gives it back", async () => {
    const budget = new HoldBudget(100);
    const hold = new Hold(budget, LIMIT);
    expect(hold.push(Buffer.alloc(40))).toBeUndefined();
    expect(hold.push(Buffer.alloc(90))).toBeUndefined();
    expect(budget.used).toBe(130);
    await hold.end();
    expect(budget.used).toBe(0);
    expect(budget.spilled).toBe(130);
    await hold.push(Buffer.alloc(50));
    hold.release();
    expect(budget.used).toBe(0);
    await hold.push(Buffer.alloc(50));
    expect(budget.used).toBe(0);
  });

  it("keeps a small chunk that is alone as it came", () => {
    const chunk = Buffer.from("alone");
    expect(held([chunk]).parts[0]).toBe(chunk);
  });
});
