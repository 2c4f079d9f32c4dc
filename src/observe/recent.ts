import type { MaskedRecord } from "./passage.js";
import { Slots } from "./slots.js";

const KEPT = 200;
const HISTORY_MS = 3_600_000;
const HISTORY_SLOTS = 360;

/** A masked answer with a number that grows. */
export interface RecentRecord extends MaskedRecord {
  readonly id: number;
}

/** The last masked answers, translated and let through apart, so that a flood of the one does not push the other out. */
export class Recent {
  readonly #kept = { translate: [] as RecentRecord[], pass: [] as RecentRecord[] };
  #last = 0;

  add(record: MaskedRecord): void {
    this.#last += 1;
    const list = this.#kept[record.decision];
    // A copy, because a cut text keeps all that it was cut from in memory.
    list.push({ id: this.#last, ...structuredClone(record) });
    if (list.length > KEPT) list.shift();
  }

  /** Those with a greater id, the newest first. */
  after(id: number): RecentRecord[] {
    return [...this.#kept.translate, ...this.#kept.pass]
      .filter((record) => record.id > id)
      .toSorted((a, b) => b.id - a.id);
  }
}

/** The last hour of a route's answers, in slots of ten seconds. */
export function createHistory(): Slots {
  return new Slots(HISTORY_MS, HISTORY_SLOTS);
}
