import { describe, expect, it } from "vitest";
import { AnswerScan, type CustomSignal } from "../../../src/mask/verdict.js";
import { cut, drive, findText, judge, scanOf } from "./drive.js";

const CHUNK = 1024;
const LONG_TEXT = 'He said: \\"no\\".\\n'.repeat(2000);
const BODY = `"responses_create_params":{"input":[]},"response":{"output":[{"text":"${LONG_TEXT}"}]}`;
const SCORED_TAIL = '"reward":1.0,"mask_sample":false,"failure_kind":null,"failure_reason":null';
const MASKED_TAIL =
  '"mask_sample":true,"failure_kind":"k","failure_reason":"r","instance_config":{"mask_sample":true}';

/** The verdict's name, and how often which chunk was asked for, the last one being 0. */
function effort(text: string): { readonly verdict: string; readonly asked: readonly number[] } {
  const chunks = cut(Buffer.from(text), CHUNK);
  const { result, asked } = drive(scanOf(chunks).judge(), chunks);
  return { verdict: result.verdict, asked: asked.map((index) => chunks.length - 1 - index) };
}

describe("how much of an answer is read again", () => {
  it("nothing when no name occurs", () => {
    expect(effort(`{${BODY},"reward":1.0}`)).toEqual({ verdict: "scored", asked: [] });
  });

  it("the last chunk when the verdict is there", () => {
    expect(effort(`{${BODY},${SCORED_TAIL}}`)).toEqual({ verdict: "scored", asked: [0] });
    expect(effort(`{${BODY},${MASKED_TAIL}}`)).toEqual({ verdict: "masked", asked: [0] });
  });

  it("no more for names that Gym's collector puts into a row", () => {
    const text = `{"_ng_task_index":3,"_ng_rollout_index":0,${BODY},${SCORED_TAIL}}`;
    expect(effort(text)).toEqual({ verdict: "scored", asked: [0] });
  });

  it("no more for an instance_config without the flag, however far up it stands", () => {
    const text = `{"instance_config":{"a":1},"agent_config":{},${BODY},${SCORED_TAIL}}`;
    expect(effort(text)).toEqual({ verdict: "scored", asked: [0] });
  });

  it("no more for a name that a text quotes", () => {
    const quoted = '"quoted":"{\\"mask_sample\\":true,\\"_ng_failure\\"}"';
    const { asked } = effort(`{"a":"mask_samples",${BODY},${quoted},${SCORED_TAIL}}`);
    expect(asked.length).toBeLessThan(5);
  });

  it("every chunk once when the verdict comes first", () => {
    const text = `{${MASKED_TAIL},${BODY}}`;
    const { verdict, asked } = effort(text);
    expect(verdict).toBe("masked");
    expect(asked).toEqual(Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, n) => n));
  });

  it("as far as an escaped letter that may belong to a name", () => {
    const { verdict, asked } = effort(
      `{"mask_sampl\\u0065":true,${BODY},"mask_sampl\\u0065":false}`,
    );
    expect(verdict).toBe("scored");
    expect(asked.at(-1)).toBeGreaterThan(30);
  });

  it("nothing for escapes that are no letters, unless there are very many", () => {
    const escapes = (count: number): string => `{"text":"${"\\u001b[0m".repeat(count)}"}`;
    expect(effort(escapes(4000))).toEqual({ verdict: "scored", asked: [] });
    expect(effort(escapes(5000)).asked.length).toBeGreaterThan(0);
    expect(effort(`{"mask_sampl\\u0065":1,"text":"${"\\u001b".repeat(9000)}"}`).verdict).toBe(
      "masked",
    );
  });
});

// They are large, so a busy machine needs its time.
describe("documents of unusual build", { timeout: 120_000 }, () => {
  it("a million brackets are no deeper than one", () => {
    const nested = `${"[".repeat(1e6)}${"]".repeat(1e6)}`;
    expect(judge(cut(Buffer.from(`{"mask_sample":true,"x":${nested}}`), 65_536)).verdict).toBe(
      "masked",
    );
    expect(judge([Buffer.from(`{"mask_sample":true,"x":${"]".repeat(1e6)}}`)]).verdict).toBe(
      "scored",
    );
  });

  it("hundreds of thousands of members are read in one walk, and a name that a border cuts once more", () => {
    const members = Array.from({ length: 300_000 }, (_, n) => `"k${n}":${n}`).join(",");
    const chunks = cut(Buffer.from(`{"mask_sample":true,${members}}`), 65_536);
    const { result, asked } = drive(scanOf(chunks).judge(), chunks);
    expect(result.verdict).toBe("masked");
    expect(asked.length).toBeLessThan(3 * chunks.length);
  });

  it("a run of backslashes longer than a chunk ends a string as it should", () => {
    for (const count of [4095, 4096, 4097]) {
      const text = `{"a":"${"\\\\".repeat(count)}","mask_sample":true,"b":"${"\\\\".repeat(count)}\\""}`;
      for (const size of [1, 2, 3, 1000, 4096]) {
        expect(judge(cut(Buffer.from(text), size)).verdict).toBe("masked");
      }
    }
  });

  it("white space longer than a chunk around a value is skipped", () => {
    const gap = " \n\r\t".repeat(1000);
    const text = `{${gap}"mask_sample"${gap}:${gap}[${gap}]${gap},"_ng_no_persist":${gap}1${gap}}${gap}`;
    expect(judge(cut(Buffer.from(text), 100))).toMatchObject({ signals: ["_ng_no_persist"] });
  });

  it("a number longer than a chunk is read whole", () => {
    const zero = `0.${"0".repeat(5000)}`;
    expect(judge(cut(Buffer.from(`{"mask_sample":${zero}}`), 64)).verdict).toBe("scored");
    expect(judge(cut(Buffer.from(`{"mask_sample":${zero}1e5001}`), 64)).verdict).toBe("masked");
  });

  it("empty chunks keep their index", () => {
    const empty = Buffer.alloc(0);
    const parts = ['{"mask_', 'sample":', "true}"].map((text) => Buffer.from(text));
    const chunks = [empty, ...parts.flatMap((part) => [part, empty, empty])];
    const { result, asked } = drive(scanOf(chunks).judge(), chunks);
    expect(result.verdict).toBe("masked");
    expect(asked.every((index) => chunks[index] !== empty)).toBe(true);
  });

  it.each([
    '{"mask_sample":}',
    '{"mask_sample"}',
    '{"mask_sample":true"}',
    '{:"mask_sample"}',
    '{"mask_sample":"}',
    '{"mask_sample":[}',
    '{"_ng_no_persist":x}',
    '{"mask_\\uzzzz_sample":true}',
    '{"a\\q_sample":true}',
    '"mask_sample":true}',
    "{}}}}",
    "{{{{}",
    '{"a":1}{"b":2}',
    '{"instance_config":{"mask_sample"}}',
    '{"instance_config":{}',
  ])("%s is not JSON and gets a verdict all the same", (text) => {
    const verdict = judge(cut(Buffer.from(text), 1));
    expect(verdict).toEqual(judge([Buffer.from(text)]));
    expect(["scored", "masked", "unknown"]).toContain(verdict.verdict);
  });
});

describe("one scan", () => {
  it("gives the same verdict each time it is asked", () => {
    const chunks = cut(Buffer.from(`{${MASKED_TAIL},${BODY}}`), CHUNK);
    const scan = scanOf(chunks);
    expect(drive(scan.judge(), chunks)).toEqual(drive(scan.judge(), chunks));
  });

  it("knows where the answer ends, white space aside", () => {
    expect(scanOf(cut(Buffer.from('{"a":1}\n\n '), 3)).end).toBe(7);
    expect(new AnswerScan().end).toBe(0);
  });

  it("hands out the bytes of any range", () => {
    const chunks = cut(Buffer.from('{"reward":0.25}'), 4);
    const { result } = drive(scanOf(chunks).bytes({ start: 10, end: 14 }), chunks);
    expect(result.toString()).toBe("0.25");
  });
});

describe("finding a member", () => {
  const chunks = cut(
    Buffer.from(
      '{"reward":1,"a":{"reward":2},"instance_config": {"x" : [ 1 ] } ,"reward" : 0.50\n}',
    ),
    5,
  );

  it.each([
    [["reward"], "0.50"],
    [["a", "reward"], "2"],
    [["a"], '{"reward":2}'],
    [["instance_config"], '{"x" : [ 1 ] }'],
    [["instance_config", "x"], "[ 1 ]"],
    [["instance_config", "mask_sample"], undefined],
    [["reward", "x"], undefined],
    [["x"], undefined],
    [["x", "reward"], undefined],
    [["__proto__"], undefined],
  ])("%j gives %j", (path, text) => {
    expect(findText(chunks, path)).toBe(text);
  });

  it("gives nothing in what is no object", () => {
    expect(findText([Buffer.from('[{"reward":1}]')], ["reward"])).toBeUndefined();
  });
});

describe("signals of a route's own", () => {
  const lost: CustomSignal = { member: "failure_reason", matches: /session not found/i };
  const on = (text: string, ...signals: CustomSignal[]): unknown => {
    const verdict = judge([Buffer.from(text)], signals);
    expect(judge(cut(Buffer.from(text), 1), signals)).toEqual(verdict);
    return verdict.verdict === "masked" ? verdict.signals : verdict.verdict;
  };

  it("mask when the member's text matches", () => {
    const text = '{"mask_sample":false,"failure_reason":"Browser session not found at verify"}';
    expect(on(text)).toBe("scored");
    expect(judge([Buffer.from(text)], [lost])).toEqual({
      verdict: "masked",
      signal: "failure_reason",
      signals: ["failure_reason"],
      kind: "unspecified",
      reason: "Browser session not found at verify",
    });
  });

  it.each([
    '{"failure_reason":"another"}',
    '{"failure_reason":null}',
    '{"failure_reason":["session not found"]}',
    '{"response":{"failure_reason":"session not found"}}',
    '{"reward":1}',
  ])("do not mask %s", (text) => {
    expect(on(text, lost)).toBe("scored");
  });

  it("come after the built-in ones and are named once", () => {
    const text = '{"status":"lost","mask_sample":"lost","_ng_no_persist":1}';
    const status = { member: "status", matches: /^l/ };
    expect(
      on(text, status, { ...status, matches: /t$/ }, { member: "mask_sample", matches: /lost/ }),
    ).toEqual(["mask_sample", "_ng_no_persist", "status"]);
  });

  it.each([
    ["état", '{"état":"x"}'],
    ["état", '{"\\u00e9t\\u0061t":"x"}'],
    ["http_500", '{"http_50\\u0030":"x"}'],
    ['a"b\\c/', '{"a\\"b\\\\c\\/":"x"}'],
    ["_x", '{"_x":"x"}'],
    ["_ng_x_y", '{"_ng_x_y":"x"}'],
    ["x", '{"\\u0078":"x"}'],
    ["LOST", '{"\\u004c\\u004FST":"x"}'],
    ["", '{"":"x"}'],
    ["__proto__", '{"__proto__":"x"}'],
    [
      "a_very_long_member_name_that_is_longer_than_all_built_in_ones",
      '{"a_very_long_member_name_that_is_longer_than_all_built_in_on\\u0065s":"x"}',
    ],
  ])("find the member %j in %s", (member, text) => {
    const padding = `"padding":"${"x".repeat(100)}"`;
    expect(on(text.replace(/\}$/, `,${padding}}`), { member, matches: /x/ })).toEqual([member]);
  });

  it("are without memory between answers, whatever the flags of the pattern", () => {
    const signal = { member: "error", matches: /boom/g };
    for (let n = 0; n < 3; n++) expect(on('{"error":"boom"}', signal)).toEqual(["error"]);
  });
});
