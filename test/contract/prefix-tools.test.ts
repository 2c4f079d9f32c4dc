import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { snippet, startMaskgate } from "./maskgate.js";
import type { Maskgate } from "./maskgate.js";
import { JUDGED, modelServer, question, startResourcesServer } from "./nemo-gym.js";
import { lacks } from "./peers.js";
import { showProgramsOfFailedTests } from "./programs.js";
import { startChatModel, startJudge } from "./stand-in.js";
import { evaluate, evaluateAndResume, showEvaluation } from "./verifiers.js";
import type { Evaluation } from "./verifiers.js";

const ROUTES = ["--config", snippet("two-clients.yaml"), "--log-level", "debug"];
const WEATHER = "resources_servers.example_mcp_weather.app:ExampleMCPWeatherResourcesServer";
const CITY = {
  responses_create_params: {
    input: [{ role: "user", content: "Use the get_weather MCP tool for Paris, then repeat it." }],
    tools: [],
  },
  verifier_metadata: { expected_city: "Paris" },
};

/** The peers are vf-eval and nemo-gym's example_mcp_weather, which offers its tool over MCP only. */
describe.skipIf(lacks("verifiers", "nemo-gym"))("MCP tools through a prefix route", () => {
  let gate: Maskgate;
  let run: Evaluation;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(({ toolAnswers: [told] }) =>
      told === undefined
        ? { call: "get_weather", arguments: { city: "Paris" } }
        : { say: weatherOf(told) },
    );
    const upstream = await startResourcesServer({
      server: WEATHER,
      globals: "{anthropic_api_key: none}",
    });
    gate = await startMaskgate(upstream.url, ...ROUTES);
    run = await evaluate({
      rows: [CITY],
      resourcesUrl: gate.url,
      modelUrl: `${model.url}/v1`,
      snippets: ["prefix.toml"],
    });
    await Promise.all([gate, upstream].map(({ program }) => program.stop()));
    await model.close();
  });
  afterAll(() => showEvaluation("example_mcp_weather on a strict prefix route", run));

  test("are found and called, and the rollout scores 1.0", () => {
    expect(run.rollouts[0]).toMatchObject({ has_error: false, rewards: { nemo_gym: 1 } });
  });

  test("never lead around the route", () => {
    const asked = gate.logged("request");
    expect(asked.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/verifiers/seed_session", "/verifiers/mcp", "/verifiers/verify"]),
    );
    expect(new Set(asked.map(({ route }) => route))).toEqual(new Set(["verifiers"]));
  });
});

const PLAYED = question("Who proposed the theory of evolution by natural selection?", "darwin");
const LOST = question("Which star heats the surface waters?", "the sun");

/** The peers are `vf-eval --resume` and equivalence_llm_judge, whose judge fails once for the second row. */
describe.skipIf(lacks("verifiers", "nemo-gym"))("a run that lost a rollout to a 503", () => {
  let first: Evaluation;
  let resumed: Evaluation;
  let gate: Maskgate;
  showProgramsOfFailedTests();

  beforeAll(async () => {
    const model = await startChatModel(() => ({ say: "I looked it up." }));
    let failures = 0;
    const judge = await startJudge((prompt) =>
      prompt.includes(LOST.question) && failures++ === 0 ? 500 : "[[A=B]]",
    );
    const upstream = await startResourcesServer({
      server: JUDGED,
      globals: modelServer("policy_model", judge.url),
    });
    gate = await startMaskgate(upstream.url, ...ROUTES);
    [first, resumed] = await evaluateAndResume({
      rows: [PLAYED, LOST],
      resourcesUrl: gate.url,
      modelUrl: `${model.url}/v1`,
      snippets: ["prefix.toml"],
    });
    await Promise.all([gate, upstream].map(({ program }) => program.stop()));
    await Promise.all([model.close(), judge.close()]);
  });
  afterAll(() => {
    showEvaluation("a judge that failed once", first);
    showEvaluation("the same run with --resume", resumed);
  });

  test("plays just that rollout again with --resume", () => {
    expect(first.rollouts.map(({ has_error }) => has_error)).toEqual([false, true]);
    expect(resumed.rollouts.map(({ rewards }) => rewards["nemo_gym"])).toEqual([1, 1]);
    const verifies = gate.logged("request").filter(({ path }) => path === "/verifiers/verify");
    expect(verifies).toHaveLength(2 + 1);
  });
});

function weatherOf(told: string): string {
  return /"text":\s*"((?:[^"\\]|\\.)*)"/.exec(told)?.[1] ?? told;
}
