import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detectMask } from "../../../src/mask/verdict.js";
import { answers, cuts, documents, lastMember, NAMES, strings } from "./documents.js";
import { drive, findText, judge, scanOf } from "./drive.js";
import { oracle } from "./oracle.js";

const MARK = "\ufeff";
const tokens = fc.constantFrom(
  ...['"', "\\", "{", "}", "[", "]", ":", ",", " ", "true", "mask_sample", '"mask_sample":true'],
  ...['"instance_config":{', '"_ng_failure_class":', "\\u005f", "1e", "-", "é", "\u0000"],
);
const jumbles = fc.oneof(
  fc.array(tokens, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(""))),
  fc.array(tokens, { maxLength: 40 }).map((parts) => Buffer.from(`{${parts.join("")}}`)),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from([0x7b, ...bytes, 0x7d])),
);

// Generating the documents is what takes the time.
const PATIENCE = { timeout: 120_000 };

describe("the verdict on a JSON document", PATIENCE, () => {
  it("is the one that parsing it gives, wherever the chunks are cut", () => {
    fc.assert(
      fc.property(documents, fc.boolean(), cuts, ({ wire, plain }, marked, cut) => {
        const body = Buffer.from(marked ? MARK + wire : wire);
        expect(judge(cut(body))).toEqual(oracle(plain));
      }),
      { numRuns: 1500 },
    );
  });

  it("is reached with each chunk asked for a bounded number of times", () => {
    fc.assert(
      fc.property(answers, cuts, ({ wire }, cut) => {
        const chunks = cut(Buffer.from(wire));
        const { asked } = drive(scanOf(chunks).judge(), chunks);
        for (const index of asked) expect(chunks[index]?.length).toBeGreaterThan(0);
        expect(asked.length).toBeLessThanOrEqual(20 * chunks.length);
      }),
    );
  });

  it("is never masked because of what a string says, even when the text is cut short", () => {
    fc.assert(
      fc.property(fc.array(strings, { minLength: 1, maxLength: 4 }), cuts, (texts, cut) => {
        const items = texts.map((text) => `{"text":${text},"n":[1,${text}]}`).join(",");
        const body = Buffer.from(`{"response":{"output":[${items}]},"a":${texts[0]},"reward":1.0}`);
        for (let end = 0; end <= body.length; end++) {
          const verdict = detectMask(body.subarray(0, end)).verdict;
          expect(verdict).not.toBe("masked");
        }
        expect(judge(cut(body))).toEqual({ verdict: "scored" });
      }),
    );
  });
});

describe("the verdict on any bytes", PATIENCE, () => {
  it("comes without an exception and does not depend on where the chunks are cut", () => {
    fc.assert(
      fc.property(jumbles, cuts, (body, cut) => {
        expect(judge(cut(body))).toEqual(detectMask(body));
      }),
      { numRuns: 3000 },
    );
  });
});

describe("finding a member", PATIENCE, () => {
  it("points at the value of the last one, without the white space around it", () => {
    const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 });
    fc.assert(
      fc.property(answers, path, fc.boolean(), cuts, (answer, names, marked, cut) => {
        const chunks = cut(Buffer.from(marked ? MARK + answer.wire : answer.wire));
        let expected: ReturnType<typeof lastMember> = answer;
        for (const name of names) expected = lastMember(expected, name);
        expect(findText(chunks, names)).toBe(expected?.wire);
      }),
      { numRuns: 1000 },
    );
  });

  it("comes without an exception on any bytes", () => {
    fc.assert(
      fc.property(jumbles, cuts, (body, cut) => {
        const path = ["instance_config", "mask_sample"];
        expect(findText(cut(body), path)).toBe(findText([body], path));
      }),
      { numRuns: 1000 },
    );
  });
});
