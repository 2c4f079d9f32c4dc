/** What was answered in one stretch of time. */
export interface Slot {
  /** When it began, in milliseconds since 1970. */
  readonly start: number;
  answers: number;
  masked: number;
  translated: number;
  /** How often each kind and each reason came, the first few of them. */
  readonly kinds: Map<string, number>;
  readonly reasons: Map<string, number>;
}

/** A masked answer as it is counted. */
export interface CountedMask {
  readonly kind: string;
  readonly reason?: string;
  readonly translated: boolean;
}

const MAX_NAMES = 30;
const REST = "other";

/** Counts of answers over a time that moves on: a fixed number of slots of equal length, the oldest given up for the newest. */
export class Slots {
  readonly slotMs: number;
  readonly #count: number;
  #slots: Slot[] = [];
  #answers = 0;
  #masked = 0;

  /** @param spanMs - how far back it reaches, divided into `count` slots. */
  constructor(spanMs: number, count: number) {
    this.slotMs = Math.max(1, Math.ceil(spanMs / count));
    this.#count = count;
  }

  /** All answers within reach, as of the last `add` or `advance`. */
  get answers(): number {
    return this.#answers;
  }

  get masked(): number {
    return this.#masked;
  }

  get share(): number {
    return this.#answers === 0 ? 0 : this.#masked / this.#answers;
  }

  /** The slots in which something was answered, the oldest first. */
  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** Counts one answer; without `mask` it was scored. */
  add(now: number, mask?: CountedMask): void {
    const slot = this.#slotAt(now);
    slot.answers += 1;
    this.#answers += 1;
    if (mask === undefined) return;
    slot.masked += 1;
    this.#masked += 1;
    if (mask.translated) slot.translated += 1;
    raise(slot.kinds, mask.kind);
    if (mask.reason !== undefined) raise(slot.reasons, mask.reason);
  }

  /** Gives up what is out of reach. */
  advance(now: number): void {
    this.#followClock(now);
    const oldest = this.#startOf(now) - (this.#count - 1) * this.slotMs;
    while (this.#slots.length > 0 && this.#slots[0]!.start < oldest) {
      const { answers, masked } = this.#slots.shift()!;
      this.#answers -= answers;
      this.#masked -= masked;
    }
  }

  #slotAt(now: number): Slot {
    const start = this.#startOf(now);
    this.advance(now);
    const last = this.#slots.at(-1);
    if (last?.start === start) return last;
    const slot: Slot = {
      start,
      answers: 0,
      masked: 0,
      translated: 0,
      kinds: new Map(),
      reasons: new Map(),
    };
    this.#slots.push(slot);
    return slot;
  }

  /** A clock that was set back takes all slots with it: they would else be out of no reach until it is as late again. */
  #followClock(now: number): void {
    const back = (this.#slots.at(-1)?.start ?? 0) - this.#startOf(now);
    if (back <= 0) return;
    this.#slots = this.#slots.map((slot) => ({ ...slot, start: slot.start - back }));
  }

  #startOf(now: number): number {
    return now - (now % this.slotMs);
  }
}

/** The most frequent names over all slots, with their counts. */
export function leading(
  slots: readonly Slot[],
  what: "kinds" | "reasons",
  most: number,
): [name: string, count: number][] {
  const sums = new Map<string, number>();
  for (const slot of slots) {
    for (const [name, count] of slot[what]) sums.set(name, (sums.get(name) ?? 0) + count);
  }
  return [...sums].toSorted((a, b) => b[1] - a[1]).slice(0, most);
}

function raise(counts: Map<string, number>, name: string): void {
  const kept = counts.has(name) || counts.size < MAX_NAMES ? name : REST;
  counts.set(kept, (counts.get(kept) ?? 0) + 1);
}
