const EVERY_ADDRESS = new Set(["", "0.0.0.0", "::", "*"]);

/**
 * Where a server started by `command` will listen, as a URL: its last `--port N`, `--port=N` or `-p N`, at its `--host` if it names one address, else at
 * 127.0.0.1. `undefined` when it names no port; port 0 is none, because nobody could know which one it becomes.
 */
export function childUpstream(command: readonly string[]): string | undefined {
  const port = lastValue(command, ["--port", "-p"], /^[0-9]{1,5}$/);
  if (port === undefined || Number(port) === 0) return undefined;
  const host = lastValue(command, ["--host"], /^[^-]/) ?? "";
  const named = EVERY_ADDRESS.has(host) ? "127.0.0.1" : host;
  return `http://${named.includes(":") ? `[${named}]` : named}:${Number(port)}`;
}

function lastValue(
  command: readonly string[],
  names: readonly string[],
  form: RegExp,
): string | undefined {
  let last: string | undefined;
  for (const [index, word] of command.entries()) {
    const long = names.find((name) => name.startsWith("--") && word.startsWith(`${name}=`));
    const value = names.includes(word) ? command[index + 1] : long && word.slice(long.length + 1);
    if (value !== undefined && form.test(value)) last = value;
  }
  return last;
}
