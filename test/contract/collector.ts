import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "./nemo-gym.js";
import { peer } from "./peers.js";
import { runProgram } from "./programs.js";
import { pythonEnvironment } from "./python.js";
import { venvVariables } from "./venv.js";

/** What NeMo Gym's collector left of one collection. */
export interface Collected {
  readonly raised: string | null;
  readonly rollouts: readonly Row[];
  readonly failures: readonly Row[];
  readonly metrics: unknown;
}

/** What is collected, and through which addresses of one resources server. */
export interface Collection<Name extends string> {
  readonly model: string;
  readonly addresses: Readonly<Record<Name, string>>;
  readonly rows: readonly Row[];
  readonly observability: boolean;
}

const SCRIPT = fileURLToPath(new URL("python/gym_path.py", import.meta.url));

/** Collects two samples of each row once for each address, with a simple_agent and a collector of nemo-gym's own. */
export async function collect<Name extends string>(
  work: Collection<Name>,
): Promise<Record<Name, Collected>> {
  const venv = peer("nemo-gym");
  const folder = await mkdtemp(join(tmpdir(), "maskgate-collect-"));
  try {
    const printed = await runProgram(
      {
        name: "gym_path.py",
        command: venv.python,
        args: [SCRIPT],
        env: pythonEnvironment(venvVariables(venv)),
      },
      JSON.stringify({ ...work, folder, sidecar: false }),
    );
    return JSON.parse(printed) as Record<Name, Collected>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What became of the two masked rollouts of a collection, in the words of docs/CLIENTS.md. */
export function fateOf({ raised, rollouts, failures }: Collected): string {
  if (raised !== null) return "the collection raises";
  if (failures.length !== 2) return `counted, reward ${Number(rollouts.at(-1)?.["reward"])}`;
  const whole = failures.every((failure) => "response" in failure);
  return `in the sidecar ${whole ? "with" : "without"} its answer, out of the mean`;
}

/** What a collection wrote, without the names that the test gave to its servers, without times and without random ids. */
export function comparable(collected: Collected): unknown {
  const text = JSON.stringify(collected, (key, value: unknown) =>
    VARYING.test(key) ? undefined : value,
  );
  return JSON.parse(text.replaceAll("passthrough_", "direct_"));
}

const VARYING = /(?:_at|_ms|_id|_s|_ns|_dir|time|latency|duration|timestamp)$/;
