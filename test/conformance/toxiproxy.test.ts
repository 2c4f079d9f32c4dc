import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startStub } from "../soak/stub.mjs";
import { expectSame, type Run } from "./comparison.js";
import { direct, type PutBefore, through } from "./front.js";
import { ask, judge, KINDS, type Way } from "./toxiproxy/ask.js";
import { FAULTS } from "./toxiproxy/faults.js";
import { goRuns } from "./toxiproxy/install.js";
import { startToxiproxy, type Toxiproxy } from "./toxiproxy/server.js";

const before: Readonly<Record<Way, PutBefore>> = {
  direct,
  passthrough: through({ connectRetryMs: 0 }),
  observe: through({ routes: [{ name: "all", mode: "observe" }], connectRetryMs: 0 }),
  strict: through({ maskedAsError: true, connectRetryMs: 0 }),
};

describe.skipIf(process.env["CI"] !== "true" && !goRuns())("toxiproxy before the upstream", () => {
  let toxiproxy: Toxiproxy;

  beforeAll(async () => {
    toxiproxy = await startToxiproxy();
  });

  afterAll(async () => {
    await toxiproxy.stop();
  });

  /** Asks for every kind of answer under every fault, one after the other for each fault, and sees that nothing was delivered twice. */
  async function run(way: Way): Promise<Run> {
    const stub = await startStub();
    const outcomes: Record<string, string> = {};
    const carried = await Promise.all(
      Object.entries(FAULTS).map(async ([name, { toxics, cut }]) => {
        const link = await toxiproxy.link(stub.url, toxics);
        const front = await before[way](link.url);
        for (const kind of KINDS) {
          const id = `${name}: ${kind}`;
          outcomes[id] = judge(way, kind, cut, await ask(front.url, kind, id));
        }
        await front.close();
        return front.carried();
      }),
    );
    stub.server.closeAllConnections();
    stub.server.close();
    expect([...stub.deliveries].filter(([, times]) => times > 1)).toEqual([]);
    expect(stub.deliveries.size).toBeGreaterThan(0);
    return { outcomes, carried: carried.reduce((sum, n) => sum + n, 0) };
  }

  test("each answer comes as it comes without maskgate, or as the 502 that says it was cut", async () => {
    const without = await run("direct");
    for (const way of ["passthrough", "observe", "strict"] as const) {
      const behind = await run(way);
      expectSame(`toxiproxy 2.12.0, ${way}`, without, behind);
      // The line for the last one under each fault may still be on its way.
      expect(behind.carried).toBeGreaterThanOrEqual(
        Object.keys(FAULTS).length * (KINDS.length - 1),
      );
    }
    expect(new Set(Object.values(without.outcomes))).toEqual(new Set(["passed"]));
  });

  test.each(["passthrough", "observe", "strict"] as const)(
    "a port that is closed is a 502, and served again once it is open (%s)",
    async (way) => {
      const stub = await startStub();
      const link = await toxiproxy.link(stub.url, []);
      const front = await before[way](link.url);
      try {
        for (const id of ["1", "2"]) {
          expect((await ask(front.url, "scored", id)).same).toBe(true);
          await link.disable();
          expect((await ask(link.url, "scored", `${id} direct`)).status).toBe(0);
          const refused = await ask(front.url, "masked", `${id} refused`);
          expect(refused).toMatchObject({ status: 502, verdict: "upstream-error", whole: true });
          await link.enable();
        }
        expect((await ask(front.url, "scored", "3")).same).toBe(true);
        expect(front.carried()).toBe(5);
        expect([...stub.deliveries]).toEqual(["1", "2", "3"].map((id) => [id, 1]));
      } finally {
        await front.close();
        stub.server.closeAllConnections();
        stub.server.close();
      }
    },
  );
});
