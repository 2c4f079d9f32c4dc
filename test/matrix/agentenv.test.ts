import { describe, expect, test } from "vitest";
import { lacks, peer } from "../contract/peers.js";
import { runProgram } from "../contract/programs.js";

const LOOK = `
from importlib.metadata import files, version
shipped = sorted({str(file) for file in files("agentenv-framework") if "training/nemo_gym" in str(file)})
print(version("agentenv-framework"), len(shipped))
`;

/**
 * The peer is the newest agentenv-framework, whose `agent_env.training.nemo_gym serve --masked-as-error` is where the
 * name of maskgate's flag comes from. No wheel up to 0.9.1364 ships that module; `contract/in-server.test.ts` holds
 * maskgate to a server of our own with such a flag.
 */
describe.skipIf(lacks("agentenv"))("AgentEnv's own serve --masked-as-error", () => {
  test("says the same as maskgate in front of a serve without the flag", async (context) => {
    const { python } = peer("agentenv");
    const printed = await runProgram({ name: "agentenv", command: python, args: ["-c", LOOK] });
    const [version, shipped] = printed.trim().split(" ");
    if (shipped === "0") {
      console.log(`agentenv-capability-missing: nemo_gym_serve (agentenv-framework ${version})`);
      context.skip("agentenv-capability-missing: nemo_gym_serve");
    }
    expect.fail(
      `agentenv-framework ${version} ships training/nemo_gym: run its serve here, with and without the flag`,
    );
  });
});
