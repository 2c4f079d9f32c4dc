import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { ProxyError } from "../errors.js";
import { foundText, type Problem, problemText } from "./problems.js";
import { type ConfigInput, type Loaded, resolveConfig } from "./resolve.js";

export type { ConfigInput, Loaded, Sources } from "./resolve.js";

/** The file that the configuration is read from, and so the one to watch: undefined where neither a flag nor the environment names one. */
export function configFile({ file, env }: ConfigInput): string | undefined {
  const named = env?.["MASKGATE_CONFIG"];
  return file ?? (named === "" ? undefined : named);
}

/**
 * The configuration that flags, environment and file make together.
 *
 * @throws {ProxyError} CONFIG_INVALID with every problem in its message, one a line, and the list of them as its cause.
 */
export async function loadConfig(input: ConfigInput): Promise<Loaded> {
  return load(input, readFile);
}

/**
 * The same once more: the file must be a regular one then. A pipe, good for a start, is empty by now, and one that nobody writes to would be waited for.
 *
 * @throws {ProxyError} as `loadConfig` does.
 */
export async function loadConfigAgain(input: ConfigInput): Promise<Loaded> {
  return load(input, readRegular);
}

type Read = (name: string) => Promise<Uint8Array>;

async function load(input: ConfigInput, read: Read): Promise<Loaded> {
  const name = configFile(input);
  const byFlag = input.file !== undefined;
  const text = name === undefined ? undefined : await readText(name, byFlag, read);
  const result = resolveConfig(
    input,
    name === undefined || text === undefined ? undefined : { name, text },
  );
  if ("problems" in result) throw invalid(result.problems);
  return result;
}

async function readRegular(name: string): Promise<Uint8Array> {
  const file = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error("not a regular file");
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function readText(name: string, byFlag: boolean, read: Read): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await read(name));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem: Problem = {
      path: byFlag ? "--config" : "MASKGATE_CONFIG",
      wrong: `cannot be read (${why})`,
      found: foundText(name),
      allowed: "a YAML or JSON file",
    };
    throw invalid([problem], error);
  }
}

/** The error that says these problems, one a line. */
export function invalid(problems: readonly Problem[], cause: unknown = problems): ProxyError {
  return new ProxyError("CONFIG_INVALID", problemText(problems), { cause });
}
