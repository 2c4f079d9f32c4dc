import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pythonEnvironment } from "./python.js";
import type { Python } from "./python.js";
import { runProgram } from "./programs.js";

/** How to make the environment of one peer. */
export interface Recipe {
  /** Such as `nemo-gym-0.7.0`: the folder's name, and the name of the file in `requirements/`. */
  readonly name: string;
  /** The name of that file where releases share one. */
  readonly requirements?: string;
  /** Packages added without their dependencies and whatever Python they ask for. */
  readonly bare?: readonly string[];
  /** Where `requirements/` and `python/` lie; default: beside this file. */
  readonly folder?: string;
  /** The oldest Python that will do is 3.`oldest`, and programs of this environment find it on their PATH; default: 3.11. */
  readonly oldest?: number;
  /** A script of `python/` that is run last: what it imports or makes is then there. */
  readonly prepare: string;
}

/** An environment that is there, whole. */
export interface Venv {
  readonly python: string;
  readonly bin: string;
  /** A home of its own for programs that keep caches in their user's. */
  readonly home: string;
  /** Folders to be put in front of the PATH: its own programs, and uv. */
  readonly path: string;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));
const CACHE = join(HERE, "../../.cache/venvs");
const UV = "uv==0.13.9";
const READY = "ready";
const LOCK = `
import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
`;

/**
 * The environment of a recipe: the one made earlier, or a new one in `.cache/venvs/NAME-HASH`. The hash covers
 * everything that goes in. A folder without its marker, left by an install that was interrupted, is made anew;
 * two processes never make the same one at once. Rejects when nothing on this machine can make it.
 */
export async function ensureVenv(
  recipe: Recipe,
  python: Python,
  say: (line: string) => void,
): Promise<Venv> {
  const { folder: home = HERE } = recipe;
  const requirements = join(home, "requirements", `${recipe.requirements ?? recipe.name}.txt`);
  const prepare = join(home, "python", recipe.prepare);
  const parts = [await readFile(requirements, "utf8"), await readFile(prepare, "utf8")];
  const folder = cacheFolder(recipe.name, [recipe.bare ?? [], python, ...parts]);
  const uv = await ensureUv(python, say);
  const venv: Venv = {
    python: join(folder, "bin/python"),
    bin: join(folder, "bin"),
    home: join(folder, "home"),
    path: [
      join(folder, "bin"),
      ...(uv?.folder === undefined ? [] : [uv.folder]),
      ...(recipe.oldest === undefined ? [] : [dirname(python.executable)]),
    ].join(delimiter),
  };
  await makeOnce(python, folder, say, async () => {
    say(
      `${recipe.name}: making an environment with ${uv?.command ?? "pip"}, Python ${python.version}`,
    );
    const step = (command: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
      runProgram({
        name: `${recipe.name}: ${command}`,
        command,
        args,
        env: pythonEnvironment(env),
      });
    if (uv === undefined) {
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await step(python.executable, ["-m", "venv", folder]);
      await step(venv.python, [...pip, "-r", requirements]);
      for (const bare of recipe.bare ?? []) {
        await step(venv.python, [...pip, "--no-deps", "--ignore-requires-python", bare]);
      }
    } else {
      const install = ["pip", "install", "--quiet", "--python", venv.python];
      await step(uv.command, ["venv", "--quiet", "--python", python.executable, folder]);
      await step(uv.command, [...install, "-r", requirements]);
      // uv has no --ignore-requires-python: it is told of a Python that every release accepts.
      for (const bare of recipe.bare ?? []) {
        await step(uv.command, [...install, "--no-deps", "--python-version", "3.14", bare]);
      }
    }
    say(`${recipe.name}: installed; importing it once`);
    await mkdir(venv.home, { recursive: true });
    await step(venv.python, [prepare], venvVariables(venv));
  });
  return venv;
}

/** The variables that make a child live in an environment. */
export function venvVariables(venv: Venv): NodeJS.ProcessEnv {
  return {
    HOME: venv.home,
    UV_CACHE_DIR: join(venv.home, ".cache/uv"),
    PATH: [venv.path, process.env["PATH"] ?? ""].join(delimiter),
  };
}

/** A uv that runs: the one on the PATH, else one from the package index; `undefined` when neither can be had. */
async function ensureUv(
  python: Python,
  say: (line: string) => void,
): Promise<{ command: string; folder?: string } | undefined> {
  if (spawnSync("uv", ["--version"], { timeout: 20_000 }).status === 0) return { command: "uv" };
  const folder = cacheFolder("uv", [UV, python]);
  try {
    await makeOnce(python, folder, say, async () => {
      say(`fetching ${UV}`);
      const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await runProgram({
        name: `fetching ${UV}`,
        command: python.executable,
        args: [...pip, "--target", folder, UV],
        env: pythonEnvironment(),
      });
    });
    return { command: join(folder, "bin/uv"), folder: join(folder, "bin") };
  } catch (error) {
    say(`no uv (${String(error).split("\n")[0]}); going on with pip`);
    return undefined;
  }
}

// The path goes into the hash as well: scripts in the folder name it, so a moved checkout makes its own.
function cacheFolder(name: string, parts: readonly unknown[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([CACHE, parts]))
    .digest("hex");
  return join(CACHE, `${name}-${hash.slice(0, 12)}`);
}

/** Makes a folder in its final place (its scripts name it), unless it is there whole. */
async function makeOnce(
  python: Python,
  folder: string,
  say: (line: string) => void,
  make: () => Promise<void>,
): Promise<void> {
  if (existsSync(join(folder, READY))) return;
  await mkdir(CACHE, { recursive: true });
  const waiting = setTimeout(say, 2_000, `waiting for the run that is making ${basename(folder)}`);
  const unlock = await lock(python, `${folder}.lock`);
  clearTimeout(waiting);
  try {
    if (existsSync(join(folder, READY))) return;
    await rm(folder, { recursive: true, force: true });
    await make();
    await writeFile(join(folder, READY), "");
  } finally {
    unlock();
  }
}

// The kernel frees a flock with its process, so a run that was killed leaves no lock behind.
async function lock(python: Python, file: string): Promise<() => void> {
  const holder = spawn(python.executable, ["-c", LOCK, file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(holder.stdout, "data");
  return () => holder.stdin.end();
}
