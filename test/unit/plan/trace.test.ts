import { describe, expect, it } from "vitest";
import { episodeLine, read, rolloutOn, trace } from "./rows.js";

const masked = { nemo_gym: { mask_sample: true, failure_kind: "judge_failed" } };

describe("readLine on traces of verifiers", () => {
  it("reads the verdict from what the taskset kept of the answer", () => {
    expect(rolloutOn(episodeLine([trace({ info: masked })]))).toMatchObject({
      verdict: { verdict: "masked", kind: "judge_failed" },
      reward: 1,
      key: "task-key",
      group: "task-key",
    });
    expect(rolloutOn(episodeLine([trace()])).verdict).toEqual({ verdict: "scored" });
  });

  it("reads masks that only older servers write", () => {
    const info = { nemo_gym: { _ng_failure_class: "judge_invalid" } };
    expect(rolloutOn(episodeLine([trace({ info })])).verdict).toMatchObject({
      signal: "_ng_failure_class",
      kind: "judge_invalid",
    });
  });

  it("reads a trace a line as well as an episode a line", () => {
    expect(rolloutOn(JSON.stringify(trace({ info: masked }))).verdict.verdict).toBe("masked");
  });

  it("falls back to the metric where nothing of the answer was kept", () => {
    const line = episodeLine([trace({ info: {}, metrics: { mask_sample: 1 } })]);
    expect(rolloutOn(line).verdict).toMatchObject({ verdict: "masked", kind: "unspecified" });
  });

  it("adds up rewards by their weights", () => {
    const rewards = { nemo_gym: { score: 0.5, weight: 2 }, style: { score: 1, weight: 0.25 } };
    expect(rolloutOn(episodeLine([trace({ rewards })])).reward).toBe(1.25);
  });

  it.each([{}, { nemo_gym: null }, { nemo_gym: { score: null, weight: 1 } }])(
    "has no number for rewards of %j",
    (rewards) => {
      expect(rolloutOn(episodeLine([trace({ rewards })])).reward).toBeUndefined();
    },
  );

  it("goes by the group that the trainer formed", () => {
    const line = episodeLine([trace()], { group: { id: "step-3" } });
    expect(rolloutOn(line)).toMatchObject({ key: "task-key", group: '["step-3"]' });
  });

  it("identifies a task without a key by its hash, else by its data", () => {
    const keyed = (task: object): string | undefined =>
      rolloutOn(JSON.stringify(trace({ task }))).key;
    expect(keyed({ hash: "h", data: {} })).toBe("h");
    expect(keyed({ data: { name: "a" } })).toBe(keyed({ data: { name: "a" } }));
    expect(keyed({ data: { name: "a" } })).not.toBe(keyed({ data: { name: "b" } }));
    expect(keyed({})).toBeUndefined();
  });

  it("takes every trace of an episode by itself", () => {
    const line = episodeLine([trace(), trace({ info: masked }), trace({ ok: false })]);
    expect(read(line)).toMatchObject({
      rollouts: [{ verdict: { verdict: "scored" } }, { verdict: { verdict: "masked" } }],
      withoutAnswer: 1,
    });
  });

  it.each([
    ["an episode without a trace", episodeLine([])],
    ["a trace that is an error already", episodeLine([trace({ ok: false, info: masked })])],
    ["a trace that no Gym server scored", episodeLine([trace({ info: {}, metrics: {} })])],
    ["a trace that is no object", '{"task":{},"traces":[3]}'],
  ])("counts %s as without an answer", (_name, line) => {
    expect(read(line)).toEqual({ rollouts: [], withoutAnswer: 1, translated: 0 });
  });

  it("counts those that a strict route has translated already", () => {
    const error = (message: string): object => ({ type: "TaskError", message });
    const masked503 = error(
      "HTTPStatusError: Server error '503 Masked: judge_failed: gone' for url 'x'",
    );
    const errors: [object, number][] = [
      [{ ok: false, errors: [masked503] }, 1],
      [{ ok: false, errors: [error("first"), masked503] }, 1],
      [{ ok: false, errors: [masked503, error("timed out")] }, 0],
      [{ ok: false, errors: [error("503 Service Unavailable: Masked: no")] }, 0],
      [{ ok: false, errors: [] }, 0],
      [{ ok: true, errors: [masked503] }, 0],
    ];
    for (const [members, translated] of errors) {
      expect(read(episodeLine([trace(members)]))).toMatchObject({ translated });
    }
  });
});
