import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERY_ROUTE, startMaskgate } from "../contract/maskgate.js";
import { GRIDSIM, gridsimRows, startResourcesServer } from "../contract/nemo-gym.js";
import { lacks } from "../contract/peers.js";
import type { Capability } from "../contract/peers.js";
import { showProgramsOfFailedTests } from "../contract/programs.js";
import { sees } from "../contract/sees.js";
import type { Route } from "../contract/sees.js";
import { startChatModel } from "../contract/stand-in.js";
import { evaluate, fateOf, showEvaluation } from "../contract/verifiers.js";
import type { Evaluation } from "../contract/verifiers.js";

const ROUTES = ["passthrough", "error", "null", "nan", "mirror"] as const;
const REASON = "503 Masked: provider_unavailable: reset timed out after 0.01 s";
const RELEASES: readonly { name: string; of?: Capability }[] = [
  { name: "verifiers 0.3.1", of: "verifiers-0.3.1" },
  { name: "verifiers 0.4.0" },
];

/** The peer is vf-eval of a release of verifiers, once on each route of one maskgate. */
describe.skipIf(lacks("verifiers", "verifiers-0.3.1", "nemo-gym")).each(RELEASES)(
  "$name",
  ({ name, of }) => {
    const runs: Partial<Record<Route, Evaluation>> = {};
    showProgramsOfFailedTests();

    beforeAll(async () => {
      const model = await startChatModel(() => ({ say: "Nothing to do today." }));
      const upstream = await startResourcesServer({ server: GRIDSIM });
      const gate = await startMaskgate(upstream.url, "--config", EVERY_ROUTE);
      const [first, second] = await gridsimRows();
      const rows = [{ ...first }, { ...second, reset_timeout: 0.01 }];
      for (const route of ROUTES) {
        const resourcesUrl = route === "passthrough" ? gate.url : `${gate.url}/${route}`;
        const unreadable = route === "nan";
        const options = { rows, resourcesUrl, modelUrl: `${model.url}/v1`, unreadable };
        runs[route] = await evaluate(of === undefined ? options : { ...options, of });
      }
      await Promise.all([gate, upstream].map(({ program }) => program.stop()));
      await model.close();
    });
    afterAll(() => {
      for (const route of ROUTES) {
        showEvaluation(`${name}, ${route}`, runs[route]!);
      }
    });

    test.each(ROUTES)("keeps the score of what was measured on the route %s", (route) => {
      expect(runs[route]!.lines[0]).toMatch(/^\[success *\].* reward=0\.20/);
    });

    test("drops a masked rollout with its reason under error", () => {
      const lost = runs.error!.rollouts[1];
      expect(lost).toMatchObject({ has_error: true, error: { type: "TaskError" } });
      expect(lost?.error?.message).toContain(`Server error '${REASON}'`);
    });

    test("drops it under null, and keeps kind and reason in its trace", () => {
      expect(runs.null!.rollouts[1]).toMatchObject({
        has_error: true,
        info: {
          nemo_gym: {
            failure_kind: "provider_unavailable",
            failure_reason: "reset timed out after 0.01 s",
          },
        },
      });
    });

    test.each(["passthrough", "mirror"] as const)("takes it for a zero under %s", (route) => {
      expect(runs[route]!.rollouts[1]).toMatchObject({
        has_error: false,
        rewards: { nemo_gym: 0 },
      });
    });

    test("loses the mean under nan, and then cannot read what it saved", () => {
      expect(runs.nan!.lines[1]).toMatch(/^\[success *\].* reward=nan/);
      expect(runs.nan!.summary).toMatch(/reward nan/);
      expect(runs.nan!.rollouts).toEqual([]);
    });

    test("is what docs/CLIENTS.md says of it", () => {
      const fate = (route: Route) => {
        const { rollouts, lines } = runs[route]!;
        const printed = /reward=(\S+)/.exec(lines[1] ?? "")?.[1];
        return rollouts[1] === undefined
          ? `counted, reward ${printed}, and the saved traces cannot be read again`
          : fateOf(rollouts[1]);
      };
      sees(name, {
        passthrough: fate("passthrough"),
        error: fate("error"),
        null: fate("null"),
        nan: fate("nan"),
        mirror: fate("mirror"),
      });
    });
  },
);
