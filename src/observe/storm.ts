import type { Alert } from "../config/config.js";
import { type CountedMask, leading, Slots } from "./slots.js";

/** How far below the limit the share must fall before a storm is over, so that one that lingers at the limit is told of once. */
const CALM_FACTOR = 0.8;

const SLOTS = 60;

/** The state of a route's window when a storm began, or was over. */
export interface StormReport {
  readonly state: "begun" | "over";
  readonly answers: number;
  readonly masked: number;
  /** From 0 to 1. */
  readonly maskedShare: number;
  readonly windowMs: number;
  /** The most frequent ones, with their counts. */
  readonly kinds: readonly [kind: string, count: number][];
  readonly reasons: readonly [reason: string, count: number][];
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
}

/** Watches the masked share of one route's answers. */
export class StormWatch {
  readonly #alert: Alert;
  readonly #window: Slots;
  #since: number | undefined;
  /** How many storms have begun. */
  begun = 0;

  constructor(alert: Alert) {
    this.#alert = alert;
    this.#window = new Slots(alert.windowMs, SLOTS);
  }

  /** When the storm that rages now began; undefined in calm. */
  get since(): number | undefined {
    return this.#since;
  }

  /** The window as it stands at `now`. */
  window(now: number): {
    readonly answers: number;
    readonly masked: number;
    readonly share: number;
  } {
    this.#window.advance(now);
    const { answers, masked, share } = this.#window;
    return { answers, masked, share };
  }

  /** Counts one answer; a report when a storm begins or ends with it. */
  add(now: number, mask?: CountedMask): StormReport | undefined {
    this.#window.add(now, mask);
    return this.check(now);
  }

  /** A report when a storm begins or ends because time went by. */
  check(now: number): StormReport | undefined {
    this.#window.advance(now);
    const { answers, share } = this.#window;
    const { maskedShare, minAnswers } = this.#alert;
    if (this.#since === undefined) {
      if (answers < minAnswers || share < maskedShare) return undefined;
      this.#since = now;
      this.begun += 1;
      return this.#report("begun", now);
    }
    if (answers > 0 && share >= maskedShare * CALM_FACTOR) return undefined;
    const report = this.#report("over", this.#since);
    this.#since = undefined;
    return report;
  }

  #report(state: StormReport["state"], since: number): StormReport {
    const { answers, masked, share, slots } = this.#window;
    return {
      state,
      answers,
      masked,
      maskedShare: Math.round(share * 1000) / 1000,
      windowMs: this.#alert.windowMs,
      kinds: leading(slots, "kinds", 5),
      reasons: leading(slots, "reasons", 3),
      since,
    };
  }
}

/** The report in one sentence. */
export function stormText(route: string, report: StormReport): string {
  const { state, answers, masked, maskedShare, windowMs, kinds, reasons } = report;
  const share = `${Math.round(maskedShare * 100)} % of the last ${answers} answers (${masked} in ${windowMs / 1000} s) are masked`;
  if (state === "over") {
    const now = answers === 0 ? "nothing was answered for a whole window" : share;
    return `the mask storm on route ${route} is over: ${now}`;
  }
  const why = kinds.map(([kind, count]) => `${kind} ${count}`).join(", ");
  const says = reasons.length === 0 ? "" : `; most often: "${reasons[0]![0]}"`;
  return `MASK STORM on route ${route}: ${share}: ${why}${says}`;
}
