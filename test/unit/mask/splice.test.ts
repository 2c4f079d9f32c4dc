import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerScan } from "../../../src/mask/verdict.js";
import { planSplice, spliceChunk } from "../../../src/mask/splice.js";

type Translation = "null" | "mirror" | "nan";

/** The text after a translation, with the answer cut into chunks of `size` bytes. */
function translated(text: string, translation: Translation, size = 1 << 20): string {
  const body = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) chunks.push(body.subarray(at, at + size));
  const scan = new AnswerScan();
  for (const chunk of chunks) scan.push(chunk);
  const steps = planSplice(scan, translation);
  let step = steps.next();
  while (step.done !== true) step = steps.next(chunks[step.value]!);
  const splice = step.value;
  return Buffer.concat(
    chunks.flatMap((chunk, i) => spliceChunk(chunk, i * size, splice)),
  ).toString();
}

describe("planSplice", () => {
  it.each<[Translation, string, string]>([
    ["null", '{"reward":0.0,"mask_sample":true}', '{"reward":null,"mask_sample":true}'],
    ["nan", '{"mask_sample":true,"reward":-1e5}\n', '{"mask_sample":true,"reward":NaN}\n'],
    [
      "null",
      '{\n  "reward" : 0.0 ,\n  "mask_sample": true\n}',
      '{\n  "reward" : null ,\n  "mask_sample": true\n}',
    ],
    [
      "null",
      '{"reward":1,"mask_sample":true,"reward":2}',
      '{"reward":1,"mask_sample":true,"reward":null}',
    ],
    ["null", '{"re\\u0077ard":NaN,"mask_sample":true}', '{"re\\u0077ard":null,"mask_sample":true}'],
    [
      "null",
      '{"mask_sample":true,"a":{"reward":1}}',
      '{"mask_sample":true,"a":{"reward":1},"reward":null}',
    ],
    ["null", '{"reward":{"a":[1,"}"]},"mask_sample":true}', '{"reward":null,"mask_sample":true}'],
    [
      "mirror",
      '{"reward":0,"mask_sample":true}',
      '{"reward":0,"mask_sample":true,"instance_config":{"mask_sample":true}}',
    ],
    [
      "mirror",
      '{"instance_config":{},"mask_sample":true}',
      '{"instance_config":{"mask_sample":true},"mask_sample":true}',
    ],
    [
      "mirror",
      '{"instance_config":{ },"mask_sample":true}',
      '{"instance_config":{"mask_sample":true },"mask_sample":true}',
    ],
    [
      "mirror",
      '{"instance_config":{"a":1},"mask_sample":true}',
      '{"instance_config":{"mask_sample":true,"a":1},"mask_sample":true}',
    ],
    [
      "mirror",
      '{"instance_config":{"mask_sample":false,"a":1},"mask_sample":true}',
      '{"instance_config":{"mask_sample":true,"a":1},"mask_sample":true}',
    ],
    [
      "mirror",
      '{"instance_config":null,"mask_sample":true}',
      '{"instance_config":{"mask_sample":true},"mask_sample":true}',
    ],
  ])("%s makes %s into %s, however it is cut", (translation, before, after) => {
    for (const size of [1, 2, 3, 7, 1 << 20])
      expect(translated(before, translation, size)).toBe(after);
  });

  it("changes that one member and no other byte", () => {
    const name = fc.constantFrom("reward", "instance_config", "mask_sample", "a", "__proto__x");
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.record({
        mask_sample: fc.boolean(),
        reward: fc.double({ noNaN: true, noDefaultInfinity: true }),
      }),
    );
    const spaces = fc.constantFrom(0, 2);
    const members = fc.array(fc.tuple(name, value), { maxLength: 6 });
    fc.assert(
      fc.property(
        members,
        spaces,
        fc.constantFrom<Translation>("null", "mirror"),
        fc.integer({ min: 1, max: 50 }),
        (list, indent, translation, size) => {
          const parts = [...list, ["mask_sample", true] as const].map(
            ([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v, null, indent)}`,
          );
          const before = `{${parts.join(indent === 0 ? "," : " ,\n")}}`;
          const after = translated(before, translation, size);
          const expected = JSON.parse(before) as Record<string, unknown>;
          if (translation === "null") expected["reward"] = null;
          else {
            const old = expected["instance_config"];
            const kept = typeof old === "object" && old !== null && !Array.isArray(old) ? old : {};
            expected["instance_config"] = { ...kept, mask_sample: true };
          }
          expect(JSON.parse(after)).toEqual(expected);
          let same = 0;
          while (same < before.length && before[same] === after[same]) same++;
          let tail = 0;
          while (tail < before.length - same && before.at(-1 - tail) === after.at(-1 - tail))
            tail++;
          const gone = before.slice(same, before.length - tail);
          const values = [...list.map(([, v]) => JSON.stringify(v, null, indent)), "false", "null"];
          expect(gone === "" || values.some((v) => v.includes(gone))).toBe(true);
        },
      ),
    );
  });
});
