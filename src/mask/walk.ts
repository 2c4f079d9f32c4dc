import type { Range } from "./chunks.js";

/** One member of an object: its name with the quotes, and all that lies between `:` and `,` or `}`. */
export interface Member {
  readonly name: Range;
  readonly value: Range;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

// What a byte outside strings means to the walk; 0 is nothing.
const STRING_END = 1;
const OPEN = 2;
const CLOSE = 3;
const COMMA = 4;
const COLON = 5; // the only one left once the others are ruled out

type Meanings = Uint8Array;

const meaningsOf = (meanings: Readonly<Record<string, number>>): Meanings => {
  const table = new Uint8Array(256);
  for (const [byte, meaning] of Object.entries(meanings)) table[byte.charCodeAt(0)] = meaning;
  return table;
};

const BRACKETS = { "{": OPEN, "[": OPEN, "}": CLOSE, "]": CLOSE };
const IN_VALUES = meaningsOf({ '"': STRING_END, ...BRACKETS });
const IN_OBJECT = meaningsOf({ '"': STRING_END, ...BRACKETS, ",": COMMA, ":": COLON });

// Most strings are short, and a loop finds their other end sooner than a native call does.
const NEAR = 32;

// Between two marks of punctuation there are mostly few bytes.
const NEAR_MARK = 8;

// Where the byte before the present position lies.
const OUTSIDE = 0;
const INSIDE = 1;
const BEFORE_QUOTE = 2;

/**
 * Walks an object from its last byte to its first and names its own members, the last one first.
 * JSON can be read that way without ambiguity: a quote met outside strings closes one, every quote
 * inside it has a backslash before it, and the opening one never has. Constant memory at any depth;
 * on text that is not JSON it ends too, with whatever members it seems to have.
 */
export class ObjectWalk {
  readonly #start: number;
  #position: number;
  #state = OUTSIDE;
  #depth = 0;
  #stringEnd = 0;
  #quote = 0;
  #valueStart = -1;
  #valueEnd = 0;
  #done = false;

  /** @param object from the opening brace (or earlier) to after the closing one */
  constructor(object: Range) {
    this.#start = object.start;
    this.#position = object.end;
  }

  /** Offset of the last byte that was read. */
  get position(): number {
    return this.#position;
  }

  /** Whether there is nothing left to read. */
  get done(): boolean {
    return this.#done || this.#position <= this.#start;
  }

  /**
   * The next member, or `undefined` when the chunk is used up or the walk is done.
   *
   * @param chunk must hold the byte before `position`
   * @param base offset of the chunk's first byte
   */
  next(chunk: Buffer, base: number): Member | undefined {
    const stop = Math.max(base, this.#start) - base;
    let at = this.#position - base;
    let member: Member | undefined;
    while (at > stop && !this.#done && member === undefined) {
      if (this.#state === OUTSIDE) {
        at = this.#walkOutside(chunk, base, at, stop);
      } else if (this.#state === INSIDE) {
        at = this.#walkString(chunk, base, at, stop);
      } else {
        member = this.#settleQuote(chunk[at - 1] === BACKSLASH);
      }
    }
    this.#position = base + at;
    return member;
  }

  #walkOutside(chunk: Buffer, base: number, from: number, stop: number): number {
    let at = from;
    let depth = this.#depth;
    while (at > stop) {
      const meanings = depth === 1 ? IN_OBJECT : IN_VALUES;
      at = skipPlain(chunk, at, stop, meanings);
      if (at === stop) break;
      const meaning = meanings[chunk[--at] as number];
      if (meaning === STRING_END) {
        const opening = depth === 1 ? -1 : shortString(chunk, at, stop);
        if (opening < 0) {
          this.#state = INSIDE;
          this.#stringEnd = base + at + 1;
          break;
        }
        at = opening;
      } else if (meaning === CLOSE) {
        if (++depth === 1) this.#valueEnd = base + at;
      } else if (meaning === OPEN) {
        if (--depth === 0) {
          this.#done = true;
          break;
        }
      } else if (meaning === COMMA) {
        this.#valueEnd = base + at;
        this.#valueStart = -1;
      } else {
        this.#valueStart = base + at + 1;
      }
    }
    this.#depth = depth;
    return at;
  }

  #walkString(chunk: Buffer, base: number, from: number, stop: number): number {
    let at = from;
    do at = lastQuote(chunk, at, stop);
    while (at > stop && chunk[at - 1] === BACKSLASH);
    if (at < stop) return stop;
    this.#state = BEFORE_QUOTE;
    this.#quote = base + at;
    return at;
  }

  #settleQuote(escaped: boolean): Member | undefined {
    this.#state = escaped ? INSIDE : OUTSIDE;
    if (escaped || this.#depth !== 1 || this.#valueStart < 0) return undefined;
    return {
      name: { start: this.#quote, end: this.#stringEnd },
      value: { start: this.#valueStart, end: this.#valueEnd },
    };
  }
}

/** Index after the last byte before `from` that has a meaning, else `stop`. */
function skipPlain(chunk: Buffer, from: number, stop: number, meanings: Meanings): number {
  const near = Math.max(stop, from - NEAR_MARK);
  let at = from;
  while (at > near && meanings[chunk[at - 1] as number] === 0) at--;
  if (at > near) return at;
  // Long numbers and lists of numbers: four bytes at a time.
  while (
    at - 4 > stop &&
    ((meanings[chunk[at - 1] as number] as number) |
      (meanings[chunk[at - 2] as number] as number) |
      (meanings[chunk[at - 3] as number] as number) |
      (meanings[chunk[at - 4] as number] as number)) ===
      0
  ) {
    at -= 4;
  }
  while (at > stop && meanings[chunk[at - 1] as number] === 0) at--;
  return at;
}

/** Index of the last quote before `from`; less than `stop` when there is none down to there. */
function lastQuote(chunk: Buffer, from: number, stop: number): number {
  const near = Math.max(stop, from - NEAR);
  for (let at = from - 1; at >= near; at--) if (chunk[at] === QUOTE) return at;
  return near === stop ? -1 : chunk.lastIndexOf(QUOTE, near - 1);
}

/** Index of the opening quote, given the closing one; -1 unless it is near and plain to see. */
function shortString(chunk: Buffer, closing: number, stop: number): number {
  const last = Math.max(stop, closing - NEAR);
  for (let at = closing - 1; at > last; at--) {
    if (chunk[at] === QUOTE) return chunk[at - 1] === BACKSLASH ? -1 : at;
  }
  return -1;
}
