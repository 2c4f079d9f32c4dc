/** What a terminal would take for a command or a line, or what would turn the order of letters: controls, C1 ones too, formats, and Unicode's line ends. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Text of a server, a client or a file on one line, fit for a terminal: each character that could do more than stand there is a `?`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "?");
}

/** The same for text of several lines: its line feeds stay. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === "\n" ? "\n" : "?"));
}
