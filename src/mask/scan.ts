import { ChunkOffsets, ChunkReader, type Range, type Reading } from "./chunks.js";
import { Edges } from "./edges.js";
import { Members } from "./members.js";
import { Sightings } from "./sightings.js";
import {
  type CustomSignal,
  KIND_MEMBERS,
  MOST_KIND_BYTES,
  MOST_TEXT_BYTES,
  NG_HINT,
  NO_REASON,
  planSignals,
  REASON_PATHS,
  type Signal,
  type SignalPlan,
  UNSPECIFIED_KIND,
} from "./signals.js";
import { isNull, isObject, isText, isTruthy, readText, type Value } from "./value.js";
import type { Verdict } from "./verdict.js";

const BUILT_IN_PLAN = planSignals([]);

/**
 * Tells whether an answer is masked, without building the document and without keeping its bytes:
 * `push` each chunk as it arrives, then drive `judge` or `find`, which yield the index of the chunk
 * they want and are answered with that very chunk. Between two yields at most one chunk is read.
 */
export class AnswerScan {
  readonly #plan: SignalPlan;
  readonly #edges = new Edges();
  readonly #offsets = new ChunkOffsets();
  readonly #sightings: Sightings;

  /** @param options `signals`: a route's own, which come after the built-in ones */
  constructor(options: { readonly signals?: readonly CustomSignal[] } = {}) {
    this.#plan = options.signals?.length ? planSignals(options.signals) : BUILT_IN_PLAN;
    this.#sightings = new Sightings(this.#plan.hints);
  }

  /** Takes note of the next chunk; its bytes are not kept. */
  push(chunk: Buffer): void {
    this.#edges.push(chunk);
    this.#offsets.push(chunk);
    this.#sightings.push(chunk);
  }

  /** The verdict on all chunks pushed so far. Never throws; text that is no JSON is no mask. */
  *judge(): Reading<Verdict> {
    const shape = this.#edges.shape();
    if (shape !== "object") return { verdict: "unknown", why: shape };
    const reader = new ChunkReader(this.#offsets);
    const members = new Members(reader, this.#whole(), this.#plan.members);
    const signals: string[] = [];
    let unread = false;
    for (const signal of this.#plan.signals) {
      const holds = yield* this.#holds(signal, reader, members);
      if (holds === undefined) unread = true;
      if (holds && !signals.includes(signal.name)) signals.push(signal.name);
    }
    const [signal] = signals;
    if (signal === undefined && unread) return { verdict: "unknown", why: "too-long" };
    if (signal === undefined) return { verdict: "scored" };
    const kind = yield* this.#kind(reader, members);
    const reason = yield* this.#reason(reader, members);
    return { verdict: "masked", signal, signals, kind, reason };
  }

  /**
   * The bytes of a member's value, without the white space around it: the last such member, looked
   * up by one name or by two, one inside the other. `undefined` when there is none.
   */
  *find(path: readonly string[]): Reading<Range | undefined> {
    if (this.#edges.shape() !== "object") return undefined;
    const reader = new ChunkReader(this.#offsets);
    let value: Value | undefined = this.#whole();
    for (const name of path) {
      if (value === undefined) return undefined;
      value = yield* findIn(reader, value, name);
    }
    return value && { start: value.start, end: value.end };
  }

  /** The bytes of a range of the answer. */
  *bytes(range: Range): Reading<Buffer> {
    return yield* new ChunkReader(this.#offsets).copy(range);
  }

  /** Offset of the first byte in a range that is no white space, else its end. */
  *skipSpace(range: Range): Reading<number> {
    return yield* new ChunkReader(this.#offsets).skipSpace(range);
  }

  /** Hands the bytes of a range to `take`, piece by piece and without a copy. */
  *visit(range: Range, take: (piece: Buffer) => void): Reading<void> {
    yield* new ChunkReader(this.#offsets).visit(range, take);
  }

  /** Offset after the last byte that is no white space: after the closing brace of an object. */
  get end(): number {
    return this.#edges.end;
  }

  // Of an answer whose shape is an object; a byte order mark before it does no harm.
  #whole(): Value {
    return { start: 0, end: this.#edges.end, first: 0x7b, last: 0x7d };
  }

  // undefined where its text or number is too long to be looked at.
  *#holds(signal: Signal, reader: ChunkReader, members: Members): Reading<boolean | undefined> {
    const [outer, inner] = signal.path;
    const first = this.#sightings.first(signal.hint);
    let value = yield* members.find(outer, first);
    if (value && inner !== undefined) value = yield* findIn(reader, value, inner, first);
    if (value === undefined) return false;
    if (signal.test === "truthy") return yield* isTruthy(reader, value, MOST_TEXT_BYTES);
    if (signal.test === "not-null") return !isNull(value);
    if (isText(value) && value.end - value.start > MOST_TEXT_BYTES) return undefined;
    const text = yield* readText(reader, value, MOST_TEXT_BYTES);
    return text !== undefined && text.search(signal.test) >= 0;
  }

  *#kind(reader: ChunkReader, members: Members): Reading<string> {
    for (const name of KIND_MEMBERS) {
      const kind = yield* this.#text([name], reader, members, MOST_KIND_BYTES);
      if (kind) return kind;
    }
    return UNSPECIFIED_KIND;
  }

  *#reason(reader: ChunkReader, members: Members): Reading<string> {
    for (const path of REASON_PATHS) {
      const reason = yield* this.#text(path, reader, members, MOST_TEXT_BYTES);
      if (reason) return reason;
    }
    return NO_REASON;
  }

  *#text(
    [outer, inner]: readonly [string, string?],
    reader: ChunkReader,
    members: Members,
    most: number,
  ): Reading<string | undefined> {
    const hint = outer.startsWith("_ng_") ? NG_HINT : undefined;
    let value = yield* members.find(outer, this.#sightings.first(hint));
    if (value && inner !== undefined) value = yield* findIn(reader, value, inner);
    return value && (yield* readText(reader, value, most));
  }
}

function* findIn(
  reader: ChunkReader,
  object: Value,
  name: string,
  first = 0,
): Reading<Value | undefined> {
  if (!isObject(object)) return undefined;
  return yield* new Members(reader, object, new Set([name])).find(name, first);
}
