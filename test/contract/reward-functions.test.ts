import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate, startOnTwoPorts } from "./maskgate.js";
import { GRIDSIM, gridsimRows, modelResponse, startResourcesServer } from "./nemo-gym.js";
import { lacks, peer } from "./peers.js";
import { runProgram, showProgramsOfFailedTests } from "./programs.js";
import { pythonEnvironment } from "./python.js";
import { sees } from "./sees.js";
import { venvVariables } from "./venv.js";

type Outcome = number | string | boolean | null;
type Name = "direct" | "error" | "null" | "nan" | "mirror";
type Found = Record<Name, Record<"unsloth" | "axolotl" | "nemo_rl", [Outcome, Outcome]>>;

const SCRIPT = fileURLToPath(new URL("python/reward_functions.py", import.meta.url));

/**
 * The peer is a real resources server; it is asked by reward functions written as those of Unsloth and axolotl are, and
 * by NeMo RL's reading of the mask (`reward_functions.py` names the lines). The first outcome is that of a day that was
 * played, the second that of a masked one.
 */
describe.skipIf(lacks("nemo-gym"))("a client that posts to /verify itself", () => {
  let found: Found;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const upstream = await startResourcesServer({ server: GRIDSIM });
    const functions = await startMaskgate(
      upstream.url,
      "--config",
      snippet("reward-functions.yaml"),
    );
    const prefix = await startMaskgate(upstream.url, "--config", snippet("two-clients.yaml"));
    const mirror = await startOnTwoPorts(upstream.url, "nemo-rl.yaml");
    const urls: Record<Name, string> = {
      direct: upstream.url,
      error: `${prefix.url}/verifiers`,
      null: `${functions.url}/trl`,
      nan: `${functions.url}/axolotl`,
      mirror: mirror.second,
    };
    const [first, second] = await gridsimRows();
    const rows = [first, { ...second, reset_timeout: 0.01 }];
    const venv = peer("nemo-gym");
    const printed = await runProgram(
      {
        name: "reward_functions.py",
        command: venv.python,
        args: [SCRIPT],
        env: pythonEnvironment(venvVariables(venv)),
      },
      JSON.stringify({ urls, rows, response: modelResponse("Nothing to do today.") }),
    );
    found = JSON.parse(printed) as Found;
    const programs = [functions, prefix, mirror, upstream];
    await Promise.all(programs.map(({ program }) => program.stop()));
  });

  test("keeps the score of what was measured under every translation", () => {
    for (const { unsloth, axolotl } of Object.values(found)) {
      expect([unsloth[0], axolotl[0]]).toEqual([0.2, 0.2]);
    }
  });

  test("makes 0 of a masked answer directly, and of a 503 too", () => {
    for (const name of ["direct", "error"] as const) {
      expect([found[name].unsloth[1], found[name].axolotl[1]]).toEqual([0, 0]);
    }
  });

  test("gets None under null as Unsloth's does, where axolotl's ends the training", () => {
    expect(found.null.unsloth[1]).toBeNull();
    expect(found.null.axolotl[1]).toBe("crash: TypeError");
  });

  test("gets NaN under nan as both do", () => {
    expect([found.nan.unsloth[1], found.nan.axolotl[1]]).toEqual(["nan", "nan"]);
  });

  test("sees the mask as NeMo RL does under mirror, not directly, and dies of a 503", () => {
    expect(found.direct.nemo_rl).toEqual([false, false]);
    expect(found.mirror.nemo_rl).toEqual([false, true]);
    expect(found.error.nemo_rl).toEqual([false, "crash: HTTPError"]);
    const fate = ([, masked]: readonly Outcome[]) => {
      if (typeof masked === "string") return `fails, ${masked.replace("crash: ", "")}`;
      return masked === true ? "out of the loss" : "counted as 0";
    };
    sees(
      "NeMo RL, its reading of the mask",
      {
        passthrough: fate(found.direct.nemo_rl),
        error: fate(found.error.nemo_rl),
        mirror: fate(found.mirror.nemo_rl),
      },
      "run, rewritten",
    );
  });
});
