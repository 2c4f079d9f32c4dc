import type { Line } from "../plan/lines.js";

const SPACE = /^[ \t\r\n]*$/;

/**
 * The answers in a text: one a line where the first line that is not empty is whole by itself (it begins with `{` and ends with `}`), else all of it
 * is one answer, such as one that was printed over several lines.
 */
export async function* cutAnswers(lines: AsyncIterable<Line>): AsyncGenerator<Line> {
  let joined: Buffer[] | undefined;
  let first = 1;
  let begun = false;
  for await (const line of lines) {
    const { bytes, number } = line;
    if (joined !== undefined) {
      joined.push(bytes ?? Buffer.alloc(0));
    } else if (
      bytes === undefined ||
      !SPACE.test(bytes.toString("latin1", 0, 1000)) ||
      bytes.length > 1000
    ) {
      if (!begun && bytes !== undefined && !isWhole(bytes)) {
        joined = [bytes];
        first = number;
      } else {
        yield line;
      }
      begun = true;
    }
  }
  if (joined !== undefined) yield { number: first, bytes: join(joined) };
}

function isWhole(bytes: Buffer): boolean {
  const text = bytes.toString("latin1").trim();
  return /^(?:\u00ef\u00bb\u00bf)?\{/.test(text) && text.endsWith("}");
}

function join(lines: readonly Buffer[]): Buffer {
  const feed = Buffer.from("\n");
  return Buffer.concat(lines.flatMap((line, i) => (i === 0 ? [line] : [feed, line])));
}
