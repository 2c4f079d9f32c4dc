import type { Range } from "./chunks.js";

/** One member of an object: its name with the quotes, and all that lies between `:` and `,` or `}`. */
export interface Member {
  readonly name: Range;
  readonly value: Range;
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;

const enumerate = (marks: readonly (readonly [string, number])[]): Uint8Array => {
  const table = new Uint8Array(256);
  for (const [bytes, mark] of marks) {
    for (const byte of Buffer.from(bytes)) table[byte] = mark;
  }
  return table;
};

const STRING = 1;
const CLOSE = 2;
const OPEN = 3;
const COMMA = 4;
const COLON = 5;
const NESTED = enumerate([
  ['"', STRING],
  ["}]", CLOSE],
  ["{[", OPEN],
]);
const TOP = enumerate([
  ['"', STRING],
  ["}]", CLOSE],
  ["{[", OPEN],
  [",", COMMA],
  [":", COLON],
]);

// Where the byte before the present position lies.
const OUTSIDE = 0;
const INSIDE = 1;
const BEFORE_CLOSING_QUOTE = 2;
const BEFORE_INNER_QUOTE = 3;

// Most strings are short, and a loop finds their other end sooner than a native call does.
const NEAR = 24;

/**
 * Walks an object from its last byte to its first and names its own members, the last one first.
 * Outside strings, JSON read backwards is unambiguous: a quote met there closes a string, and that
 * string opens at the next quote with an even number of backslashes before it. Constant memory at
 * any depth; on text that is not JSON it ends too, with whatever members it seems to have.
 */
export class ObjectWalk {
  readonly #start: number;
  readonly #longestName: number;
  #position: number;
  #state = OUTSIDE;
  #depth = 0;
  #oddBackslashes = false;
  #stringEnd = 0;
  #quote = 0;
  #valueStart = -1;
  #valueEnd = 0;
  #done = false;
  #broken = false;

  /**
   * @param object from the opening brace (or earlier) to after the closing one
   * @param longestName bytes of the longest name to report, quotes included
   */
  constructor(object: Range, longestName: number) {
    this.#start = object.start;
    this.#position = object.end;
    this.#longestName = longestName;
  }

  /** Offset of the last byte that was read. */
  get position(): number {
    return this.#position;
  }

  /** Whether there is nothing left to read. */
  get done(): boolean {
    return this.#done || this.#position <= this.#start;
  }

  /** Whether it met what cannot be JSON; the members reported until then mean nothing. */
  get broken(): boolean {
    return this.#broken;
  }

  /**
   * The next member with a name that is not too long, or `undefined` when the chunk is used up,
   * the walk has come down to `floor`, or it is done.
   *
   * @param chunk must hold the byte before `position`
   * @param base offset of the chunk's first byte
   */
  next(chunk: Buffer, base: number, floor: number): Member | undefined {
    const stop = Math.max(floor, base, this.#start) - base;
    let at = this.#position - base;
    let member: Member | undefined;
    while (at > stop && !this.#done && member === undefined) {
      switch (this.#state) {
        case OUTSIDE:
          at = this.#walkOutside(chunk, base, at, stop);
          break;
        case INSIDE:
          at = this.#walkString(chunk, base, at, stop);
          break;
        default:
          while (at > stop && chunk[at - 1] === BACKSLASH) {
            this.#oddBackslashes = !this.#oddBackslashes;
            at--;
          }
          if (at > stop) member = this.#settleQuote();
      }
    }
    this.#position = base + at;
    return member;
  }

  #walkOutside(chunk: Buffer, base: number, from: number, stop: number): number {
    let at = from;
    let depth = this.#depth;
    let mark = 0;
    while (at > stop) {
      const table = depth === 1 ? TOP : NESTED;
      do mark = table[chunk[--at] as number] as number;
      while (mark === 0 && at > stop);
      if (mark === STRING) {
        this.#state = BEFORE_CLOSING_QUOTE;
        this.#oddBackslashes = false;
        this.#stringEnd = base + at + 1;
        break;
      }
      if (mark === CLOSE) {
        if (++depth === 1) this.#valueEnd = base + at;
      } else if (mark === OPEN) {
        if (--depth === 0) {
          this.#done = true;
          break;
        }
      } else if (mark === COMMA) {
        this.#valueEnd = base + at;
        this.#valueStart = -1;
      } else if (mark === COLON) {
        this.#valueStart = base + at + 1;
      }
    }
    this.#depth = depth;
    return at;
  }

  #walkString(chunk: Buffer, base: number, from: number, stop: number): number {
    let at = from - 1;
    const near = Math.max(stop, from - NEAR);
    while (at > near && chunk[at] !== QUOTE) at--;
    if (chunk[at] !== QUOTE) at = chunk.lastIndexOf(QUOTE, at);
    if (at < stop) return stop;
    this.#state = BEFORE_INNER_QUOTE;
    this.#oddBackslashes = false;
    this.#quote = base + at;
    return at;
  }

  #settleQuote(): Member | undefined {
    if (this.#state === BEFORE_CLOSING_QUOTE) {
      this.#state = INSIDE;
      // Only the end of a text that was cut short inside a string looks like this.
      if (this.#oddBackslashes) this.#done = this.#broken = true;
      return undefined;
    }
    this.#state = this.#oddBackslashes ? INSIDE : OUTSIDE;
    const isName = !this.#oddBackslashes && this.#depth === 1 && this.#valueStart >= 0;
    if (!isName) return undefined;
    const name = { start: this.#quote, end: this.#stringEnd };
    const value = { start: this.#valueStart, end: this.#valueEnd };
    this.#valueStart = -1;
    return name.end - name.start > this.#longestName ? undefined : { name, value };
  }
}
