import { isUtf8 } from "node:buffer";
import type { CustomSignal } from "../mask/verdict.js";
import { gymRollout } from "./gym.js";
import { isJsonObject, readJson } from "./json.js";
import type { LineContent, Rollout } from "./rollout.js";
import { isTranslated, traceRollout, tracesOf } from "./trace.js";

const NOTHING: LineContent = { rollouts: [], withoutAnswer: 0, translated: 0 };
const NO_TRACE: LineContent = { rollouts: [], withoutAnswer: 1, translated: 0 };

/** What a line of a rollout file or of a `traces.jsonl` holds; the two may be mixed. A blank line holds nothing. Never throws. */
export function readLine(line: Buffer, signals: readonly CustomSignal[] = []): LineContent {
  if (!isUtf8(line)) return { damaged: "not UTF-8" };
  const text = line.toString();
  if (text.trim() === "") return NOTHING;
  const value = readJson(text);
  if (value === undefined) return { damaged: "not JSON, or cut short" };
  if (!isJsonObject(value)) return { damaged: "not a JSON object" };
  const traces = tracesOf(value);
  if (traces?.length === 0) return NO_TRACE;
  if (traces === undefined) return content([gymRollout(line, value, signals)], 0);
  return content(
    traces.map((trace) => traceRollout(trace, value, signals)),
    traces.filter(isTranslated).length,
  );
}

function content(found: readonly (Rollout | undefined)[], translated: number): LineContent {
  const rollouts = found.filter((rollout) => rollout !== undefined);
  return { rollouts, withoutAnswer: found.length - rollouts.length, translated };
}
