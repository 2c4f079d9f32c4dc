import { EbcdicStart } from "./ebcdic.js";
import { isSpace } from "./space.js";

/** What aiohttp takes off both ends before it reads JSON: Python's `bytes.strip` (`ClientResponse.json`, 3.14.5). */
function isOuterSpace(byte: number): boolean {
  return isSpace(byte) || byte === 0x0b || byte === 0x0c;
}

const UTF8_MARK = [0xef, 0xbb, 0xbf];

/**
 * The outer bytes of an answer, which tell an object from anything else without reading what lies
 * between. They do not prove that it is valid JSON.
 */
export class Edges {
  #length = 0;
  #markBytes = 0;
  #first: number | undefined;
  #last: number | undefined;
  #end = 0;
  readonly #head: number[] = [];
  readonly #ebcdic = new EbcdicStart();

  /** Offset after the last byte that is no white space; 0 when there is none. */
  get end(): number {
    return this.#end;
  }

  /** Takes note of the next chunk. */
  push(chunk: Buffer): void {
    for (let at = 0; this.#head.length < 4 && at < chunk.length; at++) {
      this.#head.push(chunk[at] as number);
    }
    this.#ebcdic.push(chunk);
    if (this.#first === undefined) this.#findFirst(chunk);
    for (let at = chunk.length - 1; at >= 0; at--) {
      const byte = chunk[at] as number;
      if (isOuterSpace(byte)) continue;
      this.#last = byte;
      this.#end = this.#length + at + 1;
      break;
    }
    this.#length += chunk.length;
  }

  /**
   * `object` when the answer begins with `{` and ends with `}`, white space and a UTF-8 byte order
   * mark aside. `not-utf-8` when Python's `json.detect_encoding` would take it for UTF-16 or UTF-32,
   * or when it begins as an object does in EBCDIC.
   */
  shape(): "object" | "not-an-object" | "not-utf-8" {
    const [one, two] = this.#head;
    const utf16Mark = (one === 0xfe && two === 0xff) || (one === 0xff && two === 0xfe);
    if (utf16Mark || this.#head.includes(0) || this.#ebcdic.found) return "not-utf-8";
    return this.#first === 0x7b && this.#last === 0x7d ? "object" : "not-an-object";
  }

  #findFirst(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      const marked = this.#markBytes === this.#length + at && byte === UTF8_MARK[this.#markBytes];
      if (marked) {
        this.#markBytes++;
      } else if (this.#markBytes % UTF8_MARK.length !== 0) {
        this.#first = UTF8_MARK[0];
        return;
      } else if (!isOuterSpace(byte)) {
        this.#first = byte;
        return;
      }
    }
  }
}
