import { AnswerScan, type CustomSignal, type Range, type Verdict } from "../mask/verdict.js";

/** A rollout that was given a reward by an answer to /verify, as a file tells of it. */
export interface Rollout {
  readonly verdict: Verdict;
  /** What its client trained on; undefined where the file has no finite number. */
  readonly reward: number | undefined;
  /** What the ramp goes by; undefined where the file has nothing that names the task. */
  readonly key: string | undefined;
  /** All rollouts that are compared with each other share it. */
  readonly group: string | undefined;
}

/** What one line holds: rollouts, and entries that never had an answer, such as a rollout that failed on its way to /verify. */
export type LineContent =
  | {
      readonly rollouts: readonly Rollout[];
      readonly withoutAnswer: number;
      /** How many of those without an answer are errors that a strict route made of a mask. */
      readonly translated: number;
    }
  | { readonly damaged: string };

/** The verdict on a whole answer at hand, by the built-in signals and a route's own. */
export function judge(body: Buffer, signals: readonly CustomSignal[]): Verdict {
  const scan = new AnswerScan({ signals });
  scan.push(body);
  return drive(scan.judge(), body);
}

/** The bytes of a top-level member's value, exactly as they stand in the answer. */
export function rawMember(body: Buffer, name: string): Buffer | undefined {
  const scan = new AnswerScan();
  scan.push(body);
  const range: Range | undefined = drive(scan.find([name]), body);
  return range && body.subarray(range.start, range.end);
}

function drive<T>(reading: Generator<number, T, Buffer>, body: Buffer): T {
  let step = reading.next();
  while (step.done !== true) step = reading.next(body);
  return step.value;
}

/** A parsed reward if it is a number that can be averaged. */
export function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
