/** Space, tab, line feed and carriage return in EBCDIC, where they are the same in every code page that Python has. */
const SPACE: ReadonlySet<number> = new Set([0x40, 0x05, 0x25, 0x0d]);

/** An opening brace and a double quote in code pages 037, 424, 500, 875 and 1140, in 273, and in 1026. */
const STARTS: ReadonlySet<number> = new Set([0xc07f, 0x437f, 0x48fc]);

/**
 * Whether an answer begins as an object with a member does in EBCDIC. requests (2.34.2) guesses the charset of an answer that names none and is no UTF-8,
 * and its guesser knows these code pages. No UTF-8 text that anybody would print begins so.
 */
export class EbcdicStart {
  #first: number | undefined;
  #second: number | undefined;

  /** Takes note of the next chunk. */
  push(chunk: Buffer): void {
    for (let at = 0; this.#second === undefined && at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (SPACE.has(byte)) continue;
      if (this.#first === undefined) this.#first = byte;
      else this.#second = byte;
    }
  }

  /** Whether the first two bytes that are no white space of EBCDIC are such a start. */
  get found(): boolean {
    return STARTS.has(((this.#first ?? 0) << 8) | (this.#second ?? 0));
  }
}
