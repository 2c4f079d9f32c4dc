import type { LineContent, Rollout } from "../../../src/plan/rollout.js";
import { readLine } from "../../../src/plan/line.js";

/** What a Gym server echoes of one task's row. */
export const params = (task: number): object => ({
  input: [{ role: "user", content: `task ${task}` }],
});

/** A line of a rollout file: a scored answer of task 1, with `members` over it. */
export function gymLine(members: object = {}): string {
  return JSON.stringify({
    responses_create_params: params(1),
    response: { output: [] },
    reward: 1,
    mask_sample: false,
    failure_kind: null,
    _ng_task_index: 1,
    _ng_rollout_index: 0,
    ...members,
  });
}

/** A trace as verifiers 0.4.0 writes it, less what nobody reads, with `members` over it. */
export function trace(members: object = {}): object {
  return {
    task: { type: "NeMoGymTask", data: { name: "rows:1" }, key: "task-key", hash: "task-hash" },
    nodes: [],
    rewards: { nemo_gym: { score: 1, weight: 1 } },
    metrics: { mask_sample: 0 },
    info: { nemo_gym: { expected_answer: "4", mask_sample: false, failure_kind: null } },
    ok: true,
    errors: [],
    ...members,
  };
}

/** A line of `traces.jsonl` of verifiers 0.4.0. */
export function episodeLine(traces: readonly object[], members: object = {}): string {
  return JSON.stringify({ id: "e", task: { key: "task-key" }, traces, ...members });
}

/** What a line of text holds. */
export function read(line: string): LineContent {
  return readLine(Buffer.from(line));
}

/** The only rollout on a line. */
export function rolloutOn(line: string): Rollout {
  const content = read(line);
  if ("damaged" in content) throw new Error(content.damaged);
  const [rollout, ...more] = content.rollouts;
  if (rollout === undefined || more.length > 0) throw new Error("not one rollout");
  return rollout;
}
