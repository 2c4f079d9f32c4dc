import type { CustomSignal } from "../mask/verdict.js";
import { rowKey } from "../route/key.js";
import { isJsonObject, type JsonObject } from "./json.js";
import { finite, judge, type Rollout } from "./rollout.js";

/**
 * The traces on a line of a verifiers `traces.jsonl`, undefined when it is no such line: since 0.4.0 a line is an episode with all its traces
 * (verifiers/v1/episode.py), while prime-rl and older releases write a trace a line.
 */
export function tracesOf(line: JsonObject): readonly unknown[] | undefined {
  if (Object.hasOwn(line, "reward")) return undefined;
  if (Array.isArray(line["traces"])) return line["traces"] as readonly unknown[];
  const isTrace = isJsonObject(line["task"]) && ("nodes" in line || "rewards" in line);
  return isTrace ? [line] : undefined;
}

/**
 * The rollout of a trace: the verdict is read from `info.nemo_gym`, which is the server's answer without its three largest members
 * (verifiers/v1/tasksets/nemo_gym/taskset.py), else from the metric `mask_sample`. Undefined for a trace that is an error already or that no Gym
 * server scored.
 *
 * The key is the task's own identity: the bytes that the proxy hashes are not in a trace, so at a share between 0 and 100 % as many tasks are
 * taken as by the proxy, but not the same ones.
 */
export function traceRollout(
  trace: unknown,
  episode: JsonObject,
  signals: readonly CustomSignal[],
): Rollout | undefined {
  if (!isJsonObject(trace) || trace["ok"] === false) return undefined;
  const answer = keptAnswer(trace);
  if (answer === undefined) return undefined;
  const key = taskKey(trace["task"]) ?? taskKey(episode["task"]);
  const group = isJsonObject(episode["group"]) ? episode["group"]["id"] : undefined;
  return {
    verdict: judge(Buffer.from(JSON.stringify(answer)), signals),
    reward: totalReward(trace["rewards"]),
    key,
    group: typeof group === "string" ? JSON.stringify([group]) : key,
  };
}

/** Whether a trace failed by the error that a strict route makes of a masked answer: httpx puts the status line into its exception. */
export function isTranslated(trace: unknown): boolean {
  if (!isJsonObject(trace) || trace["ok"] !== false || !Array.isArray(trace["errors"]))
    return false;
  const last: unknown = trace["errors"].at(-1);
  const message = isJsonObject(last) ? last["message"] : undefined;
  return typeof message === "string" && /\b[45]\d\d Masked: /.test(message);
}

function keptAnswer({ info, metrics }: JsonObject): JsonObject | undefined {
  const kept = isJsonObject(info) ? info["nemo_gym"] : undefined;
  if (isJsonObject(kept)) return kept;
  const mask = isJsonObject(metrics) ? metrics["mask_sample"] : undefined;
  return typeof mask === "number" ? { mask_sample: mask } : undefined;
}

function taskKey(task: unknown): string | undefined {
  if (!isJsonObject(task)) return undefined;
  const own = task["key"] ?? task["hash"];
  if (typeof own === "string") return own;
  const data = task["data"];
  return data === undefined ? undefined : rowKey(Buffer.from(JSON.stringify(data)));
}

/** `Trace.reward` of verifiers: every reward by its weight. */
function totalReward(rewards: unknown): number | undefined {
  if (!isJsonObject(rewards)) return undefined;
  const values = Object.values(rewards).filter(isJsonObject).map(weighted);
  return values.length === 0 ? undefined : finite(values.reduce((sum, value) => sum + value, 0));
}

function weighted({ score, weight }: JsonObject): number {
  return (finite(score) ?? Number.NaN) * (finite(weight) ?? 1);
}
