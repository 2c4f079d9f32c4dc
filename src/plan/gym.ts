import type { CustomSignal } from "../mask/verdict.js";
import { rowKey } from "../route/key.js";
import { isJsonObject, type JsonObject } from "./json.js";
import { finite, judge, rawMember, type Rollout } from "./rollout.js";

/**
 * The rollout on a line of a NeMo Gym rollout or failures file: the server's answer, with the collector's `_ng_*` members behind it
 * (nemo_gym/rollout_collection.py). Undefined for a line without a reward: there the agent failed before it had an answer.
 */
export function gymRollout(
  line: Buffer,
  row: JsonObject,
  signals: readonly CustomSignal[],
): Rollout | undefined {
  if (!Object.hasOwn(row, "reward")) return undefined;
  const task = taskIndex(row["_ng_task_index"]);
  const params = isJsonObject(row["responses_create_params"])
    ? rawMember(line, "responses_create_params")
    : undefined;
  const key = params === undefined ? task : rowKey(params);
  return {
    verdict: judge(line, signals),
    reward: finite(row["reward"]),
    key,
    group: key === undefined ? undefined : JSON.stringify([task, key]),
  };
}

function taskIndex(value: unknown): string | undefined {
  return typeof value === "number" || typeof value === "string" ? String(value) : undefined;
}
