import { describe, expect, it } from "vitest";
import { readLine } from "../../../src/plan/line.js";
import { rowKey } from "../../../src/route/key.js";
import { expectedVerdicts, recordedExchanges } from "../../helpers/recorded.js";
import { gymLine, params, read, rolloutOn } from "./rows.js";

describe("readLine on NeMo Gym's rollout files", () => {
  it("gives every recorded answer the verdict that is known for it", () => {
    const expected = expectedVerdicts();
    const judged = recordedExchanges().filter(({ name }) => expected.has(name));
    expect(judged.length).toBeGreaterThan(60);
    for (const { name, response } of judged) {
      if (response.status !== 200) continue;
      const stamped = response.bodyText.replace(
        /\}\s*$/,
        ',"_ng_task_index":3,"_ng_rollout_index":0}',
      );
      const known = expected.get(name)?.verdict;
      const verdict = known === "masked" ? "masked" : "scored";
      expect([name, rolloutOn(stamped).verdict.verdict]).toEqual([name, verdict]);
    }
  });

  it("takes reward and verdict from the line", () => {
    const line = gymLine({ reward: 0.25, mask_sample: true, failure_kind: "sandbox_lost" });
    expect(rolloutOn(line)).toMatchObject({
      reward: 0.25,
      verdict: { verdict: "masked", signal: "mask_sample", kind: "sandbox_lost" },
    });
  });

  it("goes by the bytes of responses_create_params, as the ramp of the proxy does", () => {
    const spaced = gymLine().replace(JSON.stringify(params(1)), '{"input": [1.0, "\\u00fc"]}');
    const rollout = rolloutOn(spaced);
    expect(rollout.key).toBe(rowKey(Buffer.from('{"input": [1.0, "\\u00fc"]}')));
  });

  it("tells tasks of one prompt apart by their index, without giving them other keys", () => {
    const one = rolloutOn(gymLine({ _ng_task_index: 1 }));
    const two = rolloutOn(gymLine({ _ng_task_index: 2 }));
    expect(one.key).toBe(two.key);
    expect(one.group).not.toBe(two.group);
  });

  it.each([null, undefined, "text"])(
    "goes by the task's index where responses_create_params is %j",
    (value) => {
      const line = gymLine({ responses_create_params: value, _ng_task_index: 17 });
      expect(rolloutOn(line)).toMatchObject({ key: "17" });
    },
  );

  it("gives no key and no group to a row that names no task", () => {
    const rollout = rolloutOn('{"reward":0,"mask_sample":true}');
    expect(rollout).toMatchObject({ key: undefined, group: undefined });
  });

  it.each(["null", "NaN", "Infinity", '"1"'])("has no number for a reward of %s", (reward) => {
    const line = gymLine().replace('"reward":1', `"reward":${reward}`);
    expect(rolloutOn(line).reward).toBeUndefined();
  });

  it("counts a row without a reward as one that never had an answer", () => {
    const line = '{"_ng_failure_class":"agent_run_error","_ng_task_index":0}';
    expect(read(line)).toEqual({ rollouts: [], withoutAnswer: 1, translated: 0 });
  });

  it("counts a route's own signals", () => {
    const line = Buffer.from(gymLine({ failure_reason: "browser session not found" }));
    const signals = [{ member: "failure_reason", matches: /session not found/ }];
    expect(readLine(line)).toMatchObject({ rollouts: [{ verdict: { verdict: "scored" } }] });
    expect(readLine(line, signals)).toMatchObject({
      rollouts: [{ verdict: { verdict: "masked", signal: "failure_reason" } }],
    });
  });

  it("says what is wrong with a line that cannot be read", () => {
    expect(read('{"reward": 1, "resp')).toEqual({ damaged: "not JSON, or cut short" });
    expect(read(`{"reward":1,"re${gymLine()}`)).toEqual({ damaged: "not JSON, or cut short" });
    expect(read("[1]")).toEqual({ damaged: "not a JSON object" });
    expect(readLine(Buffer.from(gymLine(), "utf16le"))).toEqual({
      damaged: "not JSON, or cut short",
    });
    expect(readLine(Buffer.from([0x7b, 0xff, 0x7d]))).toEqual({ damaged: "not UTF-8" });
  });

  it.each(["", "  \t\r"])("finds nothing in the blank line %j", (line) => {
    expect(read(line)).toEqual({ rollouts: [], withoutAnswer: 0, translated: 0 });
  });
});
