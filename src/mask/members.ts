import type { ChunkReader, Range, Reading } from "./chunks.js";
import { decodeText } from "./value.js";
import { type Member, ObjectWalk } from "./walk.js";

const LONGEST_ESCAPE = "\\u0000".length;

/**
 * The members of one object, looked up by name. The object is walked from its end only as far as
 * the questions asked need, and the last of members with the same name counts.
 */
export class Members {
  readonly #reader: ChunkReader;
  readonly #walk: ObjectWalk;
  readonly #names: ReadonlySet<string>;
  readonly #values = new Map<string, Range>();

  /** @param names the only names that will be asked for */
  constructor(reader: ChunkReader, object: Range, names: ReadonlySet<string>) {
    let longest = 0;
    for (const name of names) longest = Math.max(longest, name.length);
    this.#reader = reader;
    this.#names = names;
    this.#walk = new ObjectWalk(object, longest * LONGEST_ESCAPE + 2);
  }

  /** Whether the text met so far cannot be JSON. */
  get broken(): boolean {
    return this.#walk.broken;
  }

  /**
   * The value of a member, without the white space around it.
   *
   * @param floor offset below which the member is known not to be
   */
  *find(name: string, floor = 0): Reading<Range | undefined> {
    while (!this.#values.has(name) && !this.#walk.done && this.#walk.position > floor) {
      yield* this.#reader.seek(this.#walk.position - 1);
      const member = this.#walk.next(this.#reader.chunk, this.#reader.base, floor);
      if (member !== undefined) yield* this.#remember(member);
    }
    const value = this.#values.get(name);
    return value && (yield* this.#reader.trim(value));
  }

  *#remember({ name, value }: Member): Reading<void> {
    const json = (yield* this.#reader.bytes(name)).toString();
    const text = json.includes("\\") ? decodeText(json) : json.slice(1, -1);
    if (text === undefined || !this.#names.has(text) || this.#values.has(text)) return;
    this.#values.set(text, value);
  }
}
