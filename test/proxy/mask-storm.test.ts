import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { askStatus, scrape } from "../helpers/admin.js";
import { deferred } from "../helpers/deferred.js";
import { startHttpUpstream } from "../helpers/http-upstream.js";
import { answer, maskedFor, MASKED, request, SCORED } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const yaml = (alert = ""): string => `
admin: {port: 0}
alert: {minAnswers: 4, maskedShare: 0.5${alert}}
routes:
  - {name: v, mode: strict, match: {pathPrefix: /v}}
  - {name: look, mode: observe}
`;

async function started(alert = ""): Promise<Proxy> {
  const upstream = await startUpstream(async ({ whole, write }) => {
    const { body } = await whole;
    write(answer(body));
  });
  return startConfigured(upstream, yaml(alert));
}

async function send(proxy: Proxy, prefix: string, bodies: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const body of bodies) {
    const { status } = await rawRequest(proxy.url, request("POST", `${prefix}/verify`, { body }));
    statuses.push(status);
  }
  return statuses;
}

/** A webhook that answers with these statuses, the last of them for ever, and what was posted to it. */
async function startWebhook(...statuses: number[]): Promise<{
  url: string;
  got: (n: number) => Promise<Record<string, unknown>>;
  tries: () => number;
}> {
  const bodies = Array.from({ length: 9 }, () => deferred<Record<string, unknown>>());
  let tries = 0;
  let delivered = 0;
  const take = async (incoming: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const status = statuses[Math.min(tries, statuses.length - 1)] ?? 200;
    tries += 1;
    reply.writeHead(status).end();
    if (status !== 200) return;
    bodies[delivered]?.resolve(
      JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
    );
    delivered += 1;
  };
  const { url } = await startHttpUpstream((incoming, reply) => void take(incoming, reply));
  return { url: `${url}/hook`, got: async (n) => bodies[n - 1]!.promise, tries: () => tries };
}

describe("a mask storm", () => {
  it("is one loud line when it begins and one when it is over, for its route alone", async () => {
    const proxy = await started();
    const reason = `the judge\n is gone ${"x".repeat(1000)}`;
    await send(proxy, "/v", [maskedFor(reason), maskedFor(reason), MASKED, SCORED, MASKED, MASKED]);
    await send(proxy, "", [SCORED, SCORED, SCORED, SCORED]);
    const line = await proxy.nextLog("mask_storm");
    expect(line).toMatchObject({
      level: 50,
      route: "v",
      mode: "strict",
      answers: 4,
      masked: 3,
      maskedShare: 0.75,
      kinds: [["judge_failed", 3]],
      reasons: [
        [expect.stringMatching(/^the judge is gone x{182}$/), 2],
        ["the judge is gone", 1],
      ],
    });
    expect(line["msg"]).toMatch(/^MASK STORM on route v: 75 % of the last 4 answers /);
    expect((await scrape(proxy)).get('maskgate_mask_storm{mode="strict",route="v"}')).toBe(1);
    expect((await scrape(proxy)).get('maskgate_mask_storm{mode="observe",route="look"}')).toBe(0);
    expect((await askStatus(proxy)).routes[0]?.stormSince).toBeDefined();

    await send(
      proxy,
      "/v",
      Array.from({ length: 8 }, () => SCORED),
    );
    expect(await proxy.nextLog("mask_storm_over")).toMatchObject({ level: 40, route: "v" });
    const samples = await scrape(proxy);
    expect(samples.get('maskgate_mask_storm{mode="strict",route="v"}')).toBe(0);
    expect(samples.get('maskgate_mask_storms_total{mode="strict",route="v"}')).toBe(1);
    expect((await askStatus(proxy)).routes[0]?.stormSince).toBeUndefined();
    expect(proxy.logged("mask_storm")).toHaveLength(1);
  });

  it("on an observe route is told of too", async () => {
    const proxy = await started();
    await send(proxy, "", [MASKED, MASKED, MASKED, MASKED]);
    expect(await proxy.nextLog("mask_storm")).toMatchObject({ route: "look", mode: "observe" });
  });

  it("changes nothing of what clients get", async () => {
    const proxy = await started();
    const bodies = [MASKED, MASKED, MASKED, MASKED, SCORED, MASKED, SCORED];
    expect(await send(proxy, "/v", bodies)).toEqual([503, 503, 503, 503, 200, 503, 200]);
  });

  it("is posted to the webhook when it begins and when it is over", async () => {
    const hook = await startWebhook(200);
    const proxy = await started(`, webhook: "${hook.url}"`);
    await send(proxy, "/v", [MASKED, MASKED, MASKED, MASKED]);
    expect(await hook.got(1)).toMatchObject({
      event: "mask_storm",
      text: expect.stringContaining("MASK STORM on route v"),
      route: "v",
      mode: "strict",
      answers: 4,
      masked: 4,
      maskedShare: 1,
      kinds: [["judge_failed", 4]],
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    await send(
      proxy,
      "/v",
      Array.from({ length: 8 }, () => SCORED),
    );
    expect(await hook.got(2)).toMatchObject({ event: "mask_storm_over", state: "over" });
  });

  it("is posted again when the webhook failed, while clients are served", async () => {
    const hook = await startWebhook(500, 200);
    const proxy = await started(`, webhook: "${hook.url}"`);
    expect(await send(proxy, "/v", [MASKED, MASKED, MASKED, MASKED, SCORED])).toEqual([
      503, 503, 503, 503, 200,
    ]);
    expect(await hook.got(1)).toMatchObject({ event: "mask_storm" });
    expect(hook.tries()).toBe(2);
  });

  it("does not keep the proxy from ending while the webhook hangs", async () => {
    const asked = deferred();
    const { url } = await startHttpUpstream(() => asked.resolve());
    const proxy = await started(`, webhook: "${url}"`);
    await send(proxy, "/v", [MASKED, MASKED, MASKED, MASKED]);
    await asked.promise;
    await proxy.close();
    expect(proxy.logged("webhook_failed")).toEqual([]);
  });
});
