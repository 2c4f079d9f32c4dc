import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { collect, comparable, fateOf } from "../contract/collector.js";
import type { Collected } from "../contract/collector.js";
import { startMaskgate } from "../contract/maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "../contract/nemo-gym.js";
import { lacks } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { sees } from "../contract/sees.js";
import { startJudge } from "../contract/stand-in.js";

const PLAYED = question("Who proposed the theory of evolution by natural selection?", "darwin");
const LOST = question("Which star heats the surface waters?", "the sun");
const EVERYBODY = ["nan", "null", "mirror"] as const;

/**
 * The peers are those of contract/gym-collector, on the routes where Gym does not belong. Its client keeps no path of an
 * address, so each route is a maskgate of its own.
 */
describe.skipIf(lacks("nemo-gym"))("Gym's own collector on a route for others", () => {
  let runs: Record<"direct" | (typeof EVERYBODY)[number], Collected>;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startJudge(() => "The final answer is \\boxed{darwin}.");
    const judge = await startJudge((prompt) => (prompt.includes(LOST.question) ? 500 : "[[A=B]]"));
    const upstream = await startResourcesServer({
      server: JUDGED,
      globals: modelServer("policy_model", judge.url),
    });
    const config = (name: string) =>
      fileURLToPath(new URL(`everybody-${name}.yaml`, import.meta.url));
    const [nan, onNull, mirror] = await Promise.all(
      EVERYBODY.map((name) => startMaskgate(upstream.url, "--config", config(name))),
    );
    const addresses = {
      direct: upstream.url,
      nan: nan!.url,
      null: onNull!.url,
      mirror: mirror!.url,
    };
    runs = await collect({
      model: model.url,
      addresses,
      rows: [PLAYED, LOST],
      observability: false,
    });
    await Promise.all([nan!, onNull!, mirror!, upstream].map(({ program }) => program.stop()));
    await Promise.all([model.close(), judge.close()]);
  });

  test("writes the same under mirror, which the server's own answer says already", () => {
    expect(runs.direct.failures).toHaveLength(2);
    expect(JSON.stringify(comparable(runs.mirror)).replaceAll("mirror_", "direct_")).toBe(
      JSON.stringify(comparable(runs.direct)),
    );
  });

  test("is what docs/CLIENTS.md says of it", () => {
    sees("NeMo Gym 0.7.0, simple_agent and rollout collector", {
      null: fateOf(runs.null),
      nan: fateOf(runs.nan),
      mirror: fateOf(runs.mirror),
    });
  });
});
