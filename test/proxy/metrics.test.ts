import { describe, expect, it } from "vitest";
import { askStatus, scrape } from "../helpers/admin.js";
import { answer, maskedFor, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { configOf, type Proxy, startConfigured } from "../helpers/proxy.js";
import { openClient, rawRequest } from "../helpers/raw-client.js";
import { startUpstream, type Upstream } from "../helpers/upstream.js";

const ROUTES = `
admin: {port: 0}
maxAnswerBytes: 5000
routes:
  - {name: v, mode: strict, match: {pathPrefix: /v}, except: [agent_*]}
  - {name: half, mode: strict, match: {pathPrefix: /half}, ramp: {percentage: 0}}
  - {name: look, mode: observe, match: {pathPrefix: /look}}
`;

/** An upstream that answers a verify with the body that the request asks for. */
async function echo(): Promise<Upstream> {
  return startUpstream(async ({ whole, write }) => {
    const { body } = await whole;
    write(answer(body));
  });
}

async function send(proxy: Proxy, prefix: string, bodies: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const body of bodies) {
    const bytes = request("POST", `${prefix}/verify`, { body });
    statuses.push((await rawRequest(proxy.url, bytes)).status);
  }
  return statuses;
}

const only = (samples: ReadonlyMap<string, number>, name: string): Record<string, number> =>
  Object.fromEntries(
    [...samples].filter(
      ([key, value]) => key.startsWith(name) && (value > 0 || !key.includes("answers")),
    ),
  );

describe("/metrics", () => {
  it("counts answers by route, mode, verdict, signal, kind and decision", async () => {
    const proxy = await startConfigured(await echo(), ROUTES);
    const own = maskedFor("r", { failure_kind: "osworld:boot_failed" });
    const agent = maskedFor("r", { failure_kind: "agent_timeout" });
    const bodies = [MASKED, MASKED, SCORED, own, agent, "[]"];
    expect(await send(proxy, "/v", bodies)).toEqual([503, 503, 200, 503, 200, 200]);
    await send(proxy, "/half", [MASKED]);
    await send(proxy, "/look", ['{"instance_config":{"mask_sample":1}}', SCORED]);
    await proxy.nextLog("request", 9);
    await proxy.nextLog("let_through", 3);
    const samples = await scrape(proxy);
    expect(only(samples, "maskgate_answers_total")).toEqual({
      'maskgate_answers_total{decision="translate",kind="judge_failed",mode="strict",route="v",signal="mask_sample",verdict="masked"}': 2,
      'maskgate_answers_total{decision="translate",kind="other",mode="strict",route="v",signal="mask_sample",verdict="masked"}': 1,
      'maskgate_answers_total{because="kind is excluded",decision="pass",kind="agent_timeout",mode="strict",route="v",signal="mask_sample",verdict="masked"}': 1,
      'maskgate_answers_total{decision="pass",mode="strict",route="v",verdict="scored"}': 1,
      'maskgate_answers_total{decision="pass",mode="strict",route="v",verdict="unknown"}': 1,
      'maskgate_answers_total{because="held back by ramp",decision="pass",kind="judge_failed",mode="strict",route="half",signal="mask_sample",verdict="masked"}': 1,
      'maskgate_answers_total{because="route is not strict",decision="pass",kind="unspecified",mode="observe",route="look",signal="instance_config.mask_sample",verdict="masked"}': 1,
      'maskgate_answers_total{decision="pass",mode="observe",route="look",verdict="scored"}': 1,
    });
    expect(only(samples, "maskgate_requests_total")).toEqual({
      'maskgate_requests_total{http_response_status_code="503",mode="strict",route="v"}': 3,
      'maskgate_requests_total{http_response_status_code="200",mode="strict",route="v"}': 3,
      'maskgate_requests_total{http_response_status_code="200",mode="strict",route="half"}': 1,
      'maskgate_requests_total{http_response_status_code="200",mode="observe",route="look"}': 2,
    });
    expect(only(samples, "maskgate_ramp_percentage")).toEqual({
      'maskgate_ramp_percentage{route="v"}': 100,
      'maskgate_ramp_percentage{route="half"}': 0,
    });
    expect(samples.get('maskgate_request_duration_seconds_count{mode="strict",route="v"}')).toBe(6);
    expect(
      samples.get('maskgate_upstream_duration_seconds_count{mode="observe",route="look"}'),
    ).toBe(2);
    expect(
      samples.get('maskgate_request_duration_seconds_bucket{le="3600",mode="strict",route="v"}'),
    ).toBe(6);
    expect([...samples.keys()].filter((key) => key.includes("judge is gone"))).toEqual([]);
    expect(
      [...samples.keys()].filter((key) => key.startsWith("nodejs_eventloop_lag_p99")),
    ).toHaveLength(1);
  });

  it("has a bounded number of series, whatever kinds and reasons servers write", async () => {
    const proxy = await startConfigured(await echo(), ROUTES);
    const bodies = (n: number): string[] =>
      Array.from({ length: n }, (_, i) => maskedFor(`r${i}`, { failure_kind: `made_up_${i}` }));
    await send(proxy, "/v", bodies(1));
    const before = (await scrape(proxy)).size;
    await send(proxy, "/v", bodies(50));
    await proxy.nextLog("request", 51);
    const after = await scrape(proxy);
    expect(after.size).toBe(before);
    expect([...after.values()]).toContain(51);
  });

  it("counts failures by code, and an answer that nobody could check", async () => {
    const upstream = await startUpstream(async ({ received, whole, write, reset }) => {
      await whole;
      if (received.target === "/verify") write(answer(`{"x":"${"x".repeat(6000)}"}`));
      else reset();
    });
    const proxy = await startConfigured(upstream, ROUTES);
    expect((await rawRequest(proxy.url, request("POST", "/v/verify", { body: "{}" }))).status).toBe(
      502,
    );
    expect((await rawRequest(proxy.url, request("POST", "/v/step", { body: "{}" }))).status).toBe(
      502,
    );
    await rawRequest(proxy.url, request("POST", "/look/verify", { body: "{}" }));
    await proxy.nextLog("request", 3);
    await proxy.nextLog("uninspectable", 2);
    const samples = await scrape(proxy);
    expect(only(samples, "maskgate_upstream_errors_total")).toEqual({
      'maskgate_upstream_errors_total{error_type="ANSWER_TOO_LARGE",mode="strict",route="v"}': 1,
      'maskgate_upstream_errors_total{error_type="UPSTREAM_RESET",mode="strict",route="v"}': 1,
      'maskgate_upstream_errors_total{error_type="ANSWER_TOO_LARGE",mode="observe",route="look"}': 1,
    });
    expect(only(samples, "maskgate_answers_total")).toEqual({
      'maskgate_answers_total{decision="refuse",mode="strict",route="v",verdict="uninspectable"}': 1,
      'maskgate_answers_total{decision="pass",mode="observe",route="look",verdict="uninspectable"}': 1,
    });
  });

  it("shows what is in flight and held, and a client that left", async () => {
    const upstream = await startUpstream(async ({ whole, write }) => {
      await whole;
      write(answer("x".repeat(4000), { length: false, headers: [["Content-Length", "4500"]] }));
    });
    const proxy = await startConfigured(upstream, ROUTES);
    const client = await openClient(proxy.url);
    client.write(request("POST", "/v/verify", { body: "{}" }));
    await upstream.arrived();
    let held = 0;
    while (held === 0) held = (await scrape(proxy)).get("maskgate_held_bytes") ?? 0;
    expect(held).toBe(4000);
    expect((await scrape(proxy)).get("maskgate_requests_in_flight")).toBe(1);
    client.destroy();
    await proxy.nextLog("client_gone");
    const samples = await scrape(proxy);
    expect(samples.get("maskgate_held_bytes")).toBe(0);
    expect(samples.get("maskgate_requests_in_flight")).toBe(0);
    expect(samples.get('maskgate_requests_aborted_total{mode="strict",route="v"}')).toBe(1);
  });

  it("counts what was spilled to files", async () => {
    const proxy = await startConfigured(await echo(), `holdMemoryBytes: 0\n${ROUTES}`);
    await send(proxy, "/v", [SCORED]);
    expect((await scrape(proxy)).get("maskgate_spilled_bytes_total")).toBe(
      Buffer.byteLength(SCORED),
    );
  });

  it("goes on counting when the routes are changed", async () => {
    const proxy = await startConfigured(await echo(), ROUTES);
    await send(proxy, "/v", [MASKED]);
    const changed = ROUTES.replace("except: [agent_*]", "ramp: {percentage: 50}");
    await proxy.gate.apply(configOf("http://127.0.0.1:1", changed));
    proxy.gate.noteReload("applied");
    proxy.gate.noteReload("refused");
    await rawRequest(proxy.gate.url, request("POST", "/v/verify", { body: SCORED }));
    await proxy.nextLog("request", 2);
    const samples = await scrape(proxy);
    expect(
      samples.get(
        'maskgate_answers_total{decision="translate",kind="judge_failed",mode="strict",route="v",signal="mask_sample",verdict="masked"}',
      ),
    ).toBe(1);
    expect(
      samples.get(
        'maskgate_answers_total{decision="pass",mode="strict",route="v",verdict="scored"}',
      ),
    ).toBe(1);
    expect(samples.get('maskgate_ramp_percentage{route="v"}')).toBe(50);
    expect(samples.get('maskgate_config_reloads_total{outcome="applied"}')).toBe(1);
    expect(samples.get("maskgate_config_last_reload_successful")).toBe(0);
  });
});

describe("/status", () => {
  it("says the same in JSON, with the last masked answers", async () => {
    const upstream = await echo();
    const proxy = await startConfigured(upstream, ROUTES);
    await send(proxy, "/v", [MASKED, SCORED]);
    await rawRequest(
      proxy.url,
      request("POST", "/v/ng-rollout/task9-3/verify", {
        body: MASKED,
        headers: [["X-Request-Id", "req-7"]],
      }),
    );
    await proxy.nextLog("request", 3);
    const status = await askStatus(proxy);
    expect(status).toMatchObject({
      upstream: upstream.url,
      draining: false,
      inFlight: 0,
      heldBytes: 0,
    });
    expect(status.routes[0]).toMatchObject({
      name: "v",
      mode: "strict",
      translation: "error",
      ramp: { percentage: 100 },
      requests: 3,
      answers: { scored: 1, masked: 2, unknown: 0, uninspectable: 0 },
      translated: 2,
      kinds: { judge_failed: 2 },
      window: { answers: 3, masked: 2, share: 0.667 },
    });
    expect(status.routes.map(({ name }) => name)).toEqual(["v", "half", "look"]);
    expect(status.recent).toMatchObject([
      {
        route: "v",
        decision: "translate",
        status: 503,
        kind: "judge_failed",
        reason: "the judge is gone",
        task: "task9",
        rollout: "task9-3",
        path: "/v/ng-rollout/task9-3/verify",
        requestId: "req-7",
      },
      { task: expect.stringMatching(/^[0-9a-f]{64}$/), path: "/v/verify" },
    ]);
  });
});

describe("without an admin listener", () => {
  it("nothing listens for operators", async () => {
    const proxy = await startConfigured(await echo(), "routes: [{name: v, mode: strict}]");
    expect(proxy.gate.adminUrl).toBeUndefined();
    expect((await rawRequest(proxy.url, verify())).status).toBe(200);
  });
});
