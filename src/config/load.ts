import { readFile } from "node:fs/promises";
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
 * The configuration that flags, environment and file make together. Reads the file again at each call.
 *
 * @throws {ProxyError} CONFIG_INVALID with every problem in its message, one a line, and the list of them as its cause.
 */
export async function loadConfig(input: ConfigInput): Promise<Loaded> {
  const name = configFile(input);
  const text = name === undefined ? undefined : await readText(name, input.file !== undefined);
  const result = resolveConfig(
    input,
    name === undefined || text === undefined ? undefined : { name, text },
  );
  if ("problems" in result) throw invalid(result.problems);
  return result;
}

async function readText(name: string, byFlag: boolean): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(name));
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
