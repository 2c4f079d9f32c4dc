import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { withoutSession } from "../contract/clock.js";
import { startMaskgate } from "../contract/maskgate.js";
import {
  askWithGym,
  JUDGED,
  modelResponse,
  modelServer,
  question,
  startResourcesServer,
} from "../contract/nemo-gym.js";
import type { GymAnswer, Row, ServerLaunch } from "../contract/nemo-gym.js";
import { lacks } from "../contract/peers.js";
import type { Capability } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { readCells } from "../contract/cells.js";
import { seesCells } from "../contract/sees.js";
import { startJudge } from "../contract/stand-in.js";
import type { StandIn } from "../contract/stand-in.js";

interface Case {
  readonly name: string;
  readonly launch: ServerLaunch;
  /** What a session asks: path, and the body or the name of the recorded exchange whose request it repeats. */
  readonly asks: readonly (readonly [string, string | Row])[];
  readonly masked: Row;
  readonly phrase: string;
  readonly signal: string;
}

const scratch = (name: string) => join(tmpdir(), `maskgate-${name}`);

const OWN_MASKS: readonly Case[] = [
  {
    name: "osworld 0.7.0",
    launch: {
      server: "resources_servers.osworld.app:OSWorldResourcesServer",
      globals: `{osworld_resources_server: {resources_servers: {osworld: {require_auth: false,
        cache_dir: ${scratch("osworld-cache")}, state_dir: ${scratch("osworld-state")}}}}}`,
    },
    asks: [["/verify", "osworld-verify-masked-no-session"]],
    masked: { mask_sample: true, failure_kind: null, failure_reason: null },
    phrase: "Masked: unspecified: The server gave no reason.",
    signal: "mask_sample",
  },
  {
    name: "conversational_tool_use_simulation 0.7.0",
    launch: {
      server:
        "resources_servers.conversational_tool_use_simulation.app:ConversationalToolUseSimulationServer",
    },
    asks: [
      ["/seed_session", "conversational_tool_use_simulation-seed"],
      ["/next_user_message", "conversational_tool_use_simulation-next_user_message-model-missing"],
      [
        "/verify",
        "conversational_tool_use_simulation-verify-masked-instance_config-only-user-failure",
      ],
    ],
    masked: { mask_sample: false, instance_config: { mask_sample: true } },
    phrase: "Masked: unspecified: ",
    signal: "instance_config.mask_sample",
  },
  {
    name: "gdpval 0.7.0",
    launch: {
      server: "resources_servers.gdpval.app:GDPValResourcesServer",
      globals: `{gdpval_resources_server: {resources_servers: {gdpval: {reward_mode: comparison, preconvert_office_to_pdf: false,
        reference_deliverables_dir: ${scratch("no-references")}}}}}`,
    },
    asks: [["/verify", "gdpval-verify-ngclass-only-reference_missing"]],
    masked: { mask_sample: false, _ng_failure_class: "reference_missing" },
    phrase: "Masked: reference_missing: reference_missing",
    signal: "_ng_failure_class",
  },
  {
    name: "nemo_user_sim 0.7.0",
    launch: {
      server: "resources_servers.nemo_user_sim.app:UserSimResourcesServer",
      globals: "{policy_base_url: none, policy_api_key: none, policy_model_name: none}",
    },
    asks: [
      ["/seed_session", "nemo_user_sim-seed"],
      ["/verify", "nemo_user_sim-verify-0"],
    ],
    masked: { mask_sample: true, failure_kind: "verifier_error" },
    phrase: "Masked: verifier_error: ModuleNotFoundError: No module named 'usersim'",
    signal: "mask_sample",
  },
];

const QUESTION = question("Which star heats the surface waters?", "the sun");

// The same judge failure, from the first release that has a failsafe to the newest.
const JUDGES: readonly Case[] = (
  [
    ["0.5.1", "nemo-gym-0.5.1", { _ng_failure_class: "judge_failed" }, "_ng_failure_class"],
    ["0.6.0", "nemo-gym-0.6.0", { _ng_failure_class: "judge_failed" }, "_ng_failure_class"],
    ["0.7.0", "nemo-gym", { mask_sample: true, failure_kind: "judge_failed" }, "mask_sample"],
  ] satisfies [string, Capability, Row, string][]
).map(([version, of, masked, signal]) => ({
  name: `equivalence_llm_judge ${version}`,
  launch: { server: JUDGED, of },
  asks: [["/verify", { ...QUESTION, response: modelResponse("The sun.") }]],
  masked,
  phrase: "Masked: judge_failed: ClientResponseError: 500, message='Internal Server Error'",
  signal,
}));

const UNMASKED_0_4: Case = {
  ...JUDGES[0]!,
  name: "equivalence_llm_judge 0.4.0",
  launch: { server: JUDGED, of: "nemo-gym-0.4.0" },
};

const CASES = [...JUDGES, ...OWN_MASKS];

interface Seen {
  readonly direct: GymAnswer;
  readonly passthrough: GymAnswer;
  readonly strict: GymAnswer;
}

/**
 * The peers are servers of nemo-gym, started as Gym does and asked by the client of 0.7.0: the judge failure of each
 * release, and four servers of 0.7.0 that mask by themselves, each in a shape of its own, with the requests recorded
 * in test/fixtures/answers.
 */
describe.skipIf(lacks("nemo-gym", "nemo-gym-0.4.0", "nemo-gym-0.5.1", "nemo-gym-0.6.0"))(
  "the servers of nemo-gym",
  () => {
    const seen = new Map<string, Seen>();
    showProgramsOfFailedTests();

    beforeAll(async () => {
      const judge = await startJudge(() => 500);
      for (const one of [UNMASKED_0_4, ...CASES])
        seen.set(one.name, await askEverywhere(one, judge));
      await judge.close();
    });

    describe.each(CASES)("a masked answer of $name", ({ name, masked, phrase, signal }) => {
      test("is a 200 that carries its mask where this server puts it", () => {
        const { direct } = seen.get(name)!;
        expect(direct.status).toBe(200);
        expect(JSON.parse(direct.body)).toMatchObject(masked);
      });

      test("is the same on a passthrough route", () => {
        const { direct, passthrough } = seen.get(name)!;
        expect(withoutSession(passthrough)).toEqual(withoutSession(direct));
      });

      test("is a 503 with kind and reason on a strict route", () => {
        const { strict } = seen.get(name)!;
        expect(strict.status).toBe(503);
        expect(strict.reason.slice(0, phrase.length)).toBe(phrase);
        expect(JSON.parse(strict.body)).toMatchObject({ signal, mask_sample: true });
      });
    });

    test("of 0.4.0 answer 500 by themselves, which is the same on every route", () => {
      const { direct, passthrough, strict } = seen.get(UNMASKED_0_4.name)!;
      expect(direct.status).toBe(500);
      for (const answer of [passthrough, strict]) {
        expect(withoutSession(answer)).toEqual(withoutSession(direct));
      }
    });

    test("are what docs/CLIENTS.md says of them, and no other is run", async () => {
      for (const [name, answers] of seen) seesCells("servers", name, inWords(answers));
      const page = await readFile(new URL("../../docs/CLIENTS.md", import.meta.url), "utf8");
      const run = readCells(page).filter(
        ({ table, text }) => table === "servers" && text.startsWith("run"),
      );
      expect(new Set(run.map(({ row }) => row))).toEqual(new Set(seen.keys()));
    });
  },
);

function inWords({ direct, passthrough, strict }: Seen): Record<string, string> {
  const same = (answer: GymAnswer) =>
    JSON.stringify(withoutSession(answer)) === JSON.stringify(withoutSession(direct));
  const problem = JSON.parse(strict.body) as { failure_kind?: string; signal?: string };
  const error = `${strict.status}, kind \`${problem.failure_kind}\``;
  return {
    "its masked answer":
      direct.status === 200 ? signalsOf(direct.body) : `its own ${direct.status}`,
    passthrough: same(passthrough) ? "the same" : "another",
    strict: same(strict) ? "the same" : error,
  };
}

/** The members that a masked answer carries, in maskgate's order; and `mask_sample` too where it says the opposite. */
function signalsOf(body: string): string {
  const answer = JSON.parse(body) as Row & { instance_config?: Row };
  const found = [
    answer["mask_sample"] === true && "`mask_sample`",
    answer.instance_config?.["mask_sample"] === true && "`instance_config.mask_sample`",
    typeof answer["_ng_failure_class"] === "string" && "`_ng_failure_class`",
    answer["_ng_no_persist"] === true && "`_ng_no_persist`",
    answer["mask_sample"] === false && "`mask_sample` is false",
  ];
  return found.filter((text) => text !== false).join(", ");
}

async function askEverywhere({ launch, asks }: Case, judge: StandIn): Promise<Seen> {
  const judged = launch.server === JUDGED ? modelServer("policy_model", judge.url) : "{}";
  const upstream = await startResourcesServer({ globals: judged, ...launch });
  const gates = await Promise.all([
    startMaskgate(upstream.url),
    startMaskgate(upstream.url, "--masked-as-error"),
  ]);
  const servers = { direct: upstream.url, passthrough: gates[0].url, strict: gates[1].url };
  const bodies = await Promise.all(
    asks.map(async ([, what]) => (typeof what === "string" ? recordedBody(what) : what)),
  );
  const requests = Object.keys(servers).flatMap((server) =>
    asks.map(([path], at) => ({ server, path, session: server, json: bodies[at] ?? {} })),
  );
  const { answers } = await askWithGym(servers, requests);
  await Promise.all([...gates, upstream].map(({ program }) => program.stop()));
  const [direct, passthrough, strict] = [1, 2, 3].map((nth) => answers[nth * asks.length - 1]!);
  return { direct: direct!, passthrough: passthrough!, strict: strict! };
}

async function recordedBody(name: string): Promise<Row> {
  const file = new URL(`../fixtures/answers/${name}.json`, import.meta.url);
  const { request } = JSON.parse(await readFile(file, "utf8")) as { request: { body: string } };
  return JSON.parse(request.body) as Row;
}
