import type { ChunkReader, Range, Reading } from "./chunks.js";
import { decodeText, trim, type Value } from "./value.js";
import { ObjectWalk } from "./walk.js";

const LONGEST_ESCAPE = "\\u0000".length;

/**
 * The members of one object, looked up by name. The object is walked from its end only as far as
 * the questions asked need, and the last of members with the same name counts.
 */
export class Members {
  readonly #reader: ChunkReader;
  readonly #walk: ObjectWalk;
  readonly #names: ReadonlySet<string>;
  readonly #longestName: number;
  readonly #values = new Map<string, Range>();
  // Where the first of the members met so far begins.
  #reached = Infinity;

  /** @param names the only names that will be asked for */
  constructor(reader: ChunkReader, object: Range, names: ReadonlySet<string>) {
    let longest = 0;
    for (const name of names) longest = Math.max(longest, name.length);
    this.#reader = reader;
    this.#names = names;
    this.#longestName = longest * LONGEST_ESCAPE + 2;
    this.#walk = new ObjectWalk(object);
  }

  /**
   * The value of the last member with this name.
   *
   * @param first no member that ends before this offset can be it, nor hold what is looked for
   */
  *find(name: string, first = 0): Reading<Value | undefined> {
    const reader = this.#reader;
    const walk = this.#walk;
    while (!this.#values.has(name) && !walk.done && this.#reached > first) {
      if (!reader.holds(walk.position - 1)) yield* reader.seek(walk.position - 1);
      const member = walk.next(reader.chunk, reader.base);
      if (member === undefined) continue;
      this.#reached = member.name.start;
      if (member.name.end - member.name.start > this.#longestName) continue;
      const json = reader.view(member.name) ?? (yield* reader.copy(member.name));
      this.#remember(json.toString(), member.value);
    }
    const value = this.#values.get(name);
    return value && (yield* trim(reader, value));
  }

  #remember(json: string, value: Range): void {
    const name = json.includes("\\") ? decodeText(json) : json.slice(1, -1);
    if (name === undefined || !this.#names.has(name) || this.#values.has(name)) return;
    this.#values.set(name, value);
  }
}
