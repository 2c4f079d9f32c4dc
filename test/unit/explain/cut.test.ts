import { describe, expect, it } from "vitest";
import { cutAnswers } from "../../../src/explain/cut.js";
import { LineSplitter } from "../../../src/plan/lines.js";

async function cut(text: string): Promise<[number, string][]> {
  async function* lines() {
    const splitter = new LineSplitter(1 << 20);
    yield* splitter.push(Buffer.from(text));
    yield* splitter.end();
  }
  const answers: [number, string][] = [];
  for await (const { number, bytes } of cutAnswers(lines())) answers.push([number, String(bytes)]);
  return answers;
}

describe("a text", () => {
  it.each<[string, string, [number, string][]]>([
    ["one line", '{"a":1}', [[1, '{"a":1}']]],
    ["a byte order mark", '\uFEFF{"a":1}\n', [[1, '\uFEFF{"a":1}']]],
    [
      "JSON lines",
      '{"a":1}\n\n{"b":2}\r\n',
      [
        [1, '{"a":1}'],
        [3, '{"b":2}\r'],
      ],
    ],
    [
      "JSON lines with a damaged one",
      '{"a":1}\n{"b"\n',
      [
        [1, '{"a":1}'],
        [2, '{"b"'],
      ],
    ],
    ["one over several lines", '\n{\n  "a": 1\n}\n', [[2, '{\n  "a": 1\n}']]],
    ["no object", "[1]", [[1, "[1]"]]],
    ["nothing", "\n \n", []],
  ])("of %s is cut into its answers", async (_, text, answers) => {
    expect(await cut(text)).toEqual(answers);
  });
});
