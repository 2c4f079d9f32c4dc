import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { nameMeans, silentPort } from "../helpers/addresses.js";
import { answer, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { rawRequest } from "../helpers/raw-client.js";
import { freePort, startUpstream, type Upstream } from "../helpers/upstream.js";

const DEAD = "127.0.0.9";
const ALIVE = "127.0.0.1";

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const server = createServer()
    .once("error", () => resolve(false))
    .listen(0, "::1", () => server.close(() => resolve(true)));
});

/** How an address is dead: the port of it on which nothing answers. */
const DEATHS: readonly (readonly [name: string, port: () => Promise<number>])[] = [
  ["refuses", () => freePort()],
  ["is silent", () => silentPort(DEAD)],
];

describe.each(MODES)("in mode %s", (mode) => {
  async function expectReached(url: string, upstream: Upstream): Promise<void> {
    const proxy = await startInMode(mode, url);
    for (const bytes of [verify(), request("GET", "/")]) {
      expect((await rawRequest(proxy.url, bytes)).text).toBe(SCORED);
    }
    expect(upstream.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
  }

  it.each(DEATHS)("a name with two addresses, of which one %s, is reached", async (_, portOf) => {
    const port = await portOf();
    nameMeans("two.example", DEAD, ALIVE);
    const upstream = await startUpstream(answer(SCORED), { port });
    await expectReached(`http://two.example:${port}`, upstream);
  });

  it.each(DEATHS)(
    "a restart of the one address is waited for while the other %s",
    async (_, portOf) => {
      const port = await portOf();
      nameMeans("two.example", DEAD, ALIVE);
      const proxy = await startInMode(mode, `http://two.example:${port}`);
      const waiting = rawRequest(proxy.url, verify());
      expect(await proxy.nextLog("upstream_refused")).toMatchObject({ code: "ECONNREFUSED" });
      const upstream = await startUpstream(answer(SCORED), { port });
      expect((await waiting).text).toBe(SCORED);
      expect(upstream.requests).toHaveLength(1);
    },
  );

  it("localhost is reached where it means both families and only 127.0.0.1 listens", async () => {
    nameMeans("localhost", "::1", ALIVE);
    const upstream = await startUpstream(answer(SCORED));
    await expectReached(`http://localhost:${upstream.port}`, upstream);
  });

  it.runIf(hasIpv6)(
    "localhost is reached where it means both families and only ::1 listens",
    async () => {
      nameMeans("localhost", ALIVE, "::1");
      const upstream = await startUpstream(answer(SCORED), { host: "::1" });
      await expectReached(`http://localhost:${upstream.port}`, upstream);
    },
  );
});
