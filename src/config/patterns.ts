/** A pattern's expression, matching anywhere in a text. Throws a SyntaxError for one that does not compile. */
export function searching(pattern: string): RegExp {
  // With "u", an escape that means nothing (\Z, \A of other languages) is an error instead of a plain letter.
  return new RegExp(pattern, "u");
}

/** The same pattern, matching a text only from its first character to its last. */
export function matchingWhole(pattern: string): RegExp {
  return new RegExp(`^(?:${searching(pattern).source})$`, "u");
}

/** A glob over kinds: `*` is any text, `?` any one character, everything else itself. Matches the whole kind. */
export function globbing(glob: string): RegExp {
  const source = glob
    .replace(/[.\\/^$+()[\]{}|]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${source}$`, "su");
}

/** Why the pattern does not compile, in the engine's words; undefined when it does. */
export function patternFault(pattern: string): string | undefined {
  try {
    searching(pattern);
    return undefined;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(text.lastIndexOf(": ") + 2);
  }
}

/** The pattern that `searching` was given. */
export function searchedPattern({ source }: RegExp): string {
  return writtenPattern(source);
}

/** The engine puts a backslash before each slash. */
function writtenPattern(source: string): string {
  return source.replace(/\\(.)/g, (escape, letter: string) => (letter === "/" ? "/" : escape));
}

/** The pattern that `matchingWhole` was given. */
export function wholePattern({ source }: RegExp): string {
  return writtenPattern(source.slice("^(?:".length, -")$".length));
}

/** The glob that `globbing` was given. */
export function globOf({ source }: RegExp): string {
  return source
    .slice(1, -1)
    .replace(/\\(.)|\.(\*?)/g, (_, literal?: string, star?: string) => literal ?? (star || "?"));
}
