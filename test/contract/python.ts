import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A Python that runs. */
export interface Python {
  /** Its own executable, not a shim that leads to it. */
  readonly executable: string;
  /** Such as `3.11`. */
  readonly version: string;
}

const OLDEST = 11;
const NAMES = ["python3.13", "python3.12", "python3.11", "python3", "python"];
const TELL =
  "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2]); print(sys.version_info[1])";

const LEFT_OUT = [
  ...["PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"],
  ...["FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"],
];

/**
 * The first Python of 3.11 (or 3.`oldest`) or newer that runs: the one that `CONTRACT_PYTHON` names, else the first of
 * python3.13 to python3 on the PATH, else one of pyenv's. `undefined` when there is none.
 */
export function findPython(oldest = OLDEST): Python | undefined {
  const named = process.env["CONTRACT_PYTHON"];
  for (const name of named === undefined ? [...NAMES, ...pythonsOfPyenv()] : [named]) {
    const tried = spawnSync(name, ["-c", TELL], { encoding: "utf8", timeout: 20_000 });
    const [executable, version, minor] = (tried.stdout ?? "").trim().split("\n");
    if (tried.status !== 0 || executable === undefined || version === undefined) continue;
    if (version.startsWith("3.") && Number(minor) >= oldest) return { executable, version };
  }
  return undefined;
}

function pythonsOfPyenv(): string[] {
  const versions = join(process.env["PYENV_ROOT"] ?? join(homedir(), ".pyenv"), "versions");
  if (!existsSync(versions)) return [];
  const found = readdirSync(versions).filter((version) => /^3\.1[1-3]\./.test(version));
  return found.map((version) => join(versions, version, "bin/python3"));
}

/**
 * The environment for a Python child: this process's own, without what would reach into another Python, with
 * byte code kept (a run of verifiers compiles for ten seconds without), plain output, and no proxy for loopback.
 */
export function pythonEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const inherited = { ...process.env };
  for (const name of LEFT_OUT) delete inherited[name];
  return {
    ...inherited,
    PYTHONUNBUFFERED: "1",
    PYTHONUTF8: "1",
    NO_COLOR: "1",
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    HF_HUB_OFFLINE: "1",
    RAY_USAGE_STATS_ENABLED: "0",
    ...more,
  };
}
