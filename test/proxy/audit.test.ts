import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scrape } from "../helpers/admin.js";
import { closeLater } from "../helpers/closing.js";
import type { Field } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const COOKIE: Field = ["Set-Cookie", "Gym___gym=eyJzIjoxfQ==.abc.S3CRET; path=/"];

async function auditFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-audit-"));
  closeLater(async () => rm(folder, { recursive: true }));
  return join(folder, "audit.jsonl");
}

async function started(file: string): Promise<Proxy> {
  const upstream = await startUpstream(async ({ whole, write }) => {
    const { body } = await whole;
    write(answer(body, { headers: [COOKIE] }));
  });
  const yaml = `
admin: {port: 0}
audit: {file: ${file}}
routes:
  - {name: v, mode: strict, match: {pathPrefix: /v}}
  - {name: look, mode: observe}
`;
  return startConfigured(upstream, yaml);
}

async function linesIn(file: string): Promise<Record<string, unknown>[]> {
  const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the audit", () => {
  it("has a line for each masked answer, and none for others", async () => {
    const file = await auditFile();
    const proxy = await started(file);
    const headers: Field[] = [
      ["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
      ["authorization", "S3CRET"],
    ];
    const bodies = [
      ["/v/ng-rollout/task7-2-a1/verify?token=S3CRET", MASKED],
      ["/v/verify", SCORED],
      ["/verify", MASKED],
      ["/step", MASKED],
    ] as const;
    for (const [target, body] of bodies) {
      await rawRequest(proxy.url, request("POST", target, { body, headers }));
    }
    await proxy.nextLog("let_through");
    await proxy.close();
    const [one, two, ...more] = await linesIn(file);
    expect(more).toEqual([]);
    expect(one).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      route: "v",
      mode: "strict",
      decision: "translate",
      translation: "error",
      status: 503,
      signal: "mask_sample",
      kind: "judge_failed",
      reason: "the judge is gone",
      task: "task7",
      rollout: "task7-2-a1",
      session: expect.stringMatching(/^[0-9a-f]{16}$/),
      path: "/v/ng-rollout/task7-2-a1/verify",
      answerBytes: Buffer.byteLength(MASKED),
      upstreamMs: expect.any(Number),
      totalMs: expect.any(Number),
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    expect(two).toMatchObject({
      route: "look",
      mode: "observe",
      decision: "pass",
      because: "route is not strict",
      status: 200,
      task: expect.stringMatching(/^[0-9a-f]{64}$/),
      session: one?.["session"],
      answerBytes: Buffer.byteLength(MASKED),
    });
    expect(await readFile(file, "utf8")).not.toContain("S3CRET");
  });

  it("that no disk takes costs lines, and no client anything", async () => {
    const proxy = await started("/dev/full");
    for (const status of [503, 503, 503]) {
      const bytes = request("POST", "/v/verify", { body: MASKED });
      expect((await rawRequest(proxy.url, bytes)).status).toBe(status);
    }
    await proxy.nextLog("audit_failed");
    let lost = 0;
    while (lost < 3) lost = (await scrape(proxy)).get("maskgate_audit_lost_lines_total") ?? 0;
    expect(lost).toBe(3);
    expect(proxy.logged("audit_failed")).toHaveLength(1);
  });
});

it("holds no more of a path's rollout and task than anybody reads", async () => {
  const file = await auditFile();
  const proxy = await started(file);
  const target = `/v/ng-rollout/${"t".repeat(60_000)}-1/verify`;
  expect((await rawRequest(proxy.url, request("POST", target, { body: MASKED }))).status).toBe(503);
  await proxy.close();
  const [line] = await linesIn(file);
  expect(line).toMatchObject({ task: "t".repeat(200), rollout: "t".repeat(200) });
  expect((await readFile(file)).length).toBeLessThan(2000);
});

describe("the ids that a request brings along", () => {
  it("stand in the lines about it, cut, and go on unchanged; none is made up", async () => {
    const upstream = await startUpstream(answer(MASKED));
    const proxy = await startConfigured(upstream, "routes: [{name: v, mode: strict}]");
    const id = "r".repeat(900);
    const headers: Field[] = [
      ["X-REQUEST-ID", id],
      ["TraceParent", "00-1-2-01"],
    ];
    await rawRequest(proxy.url, request("POST", "/verify", { headers }));
    await rawRequest(proxy.url, request("POST", "/verify"));
    await proxy.nextLog("request", 2);
    const [one, two] = proxy.logged("translated");
    expect(one).toMatchObject({ requestId: "r".repeat(200), traceparent: "00-1-2-01" });
    expect(two).not.toHaveProperty("requestId");
    expect(two).not.toHaveProperty("traceparent");
    const [first, second] = upstream.requests;
    expect(first?.fields).toContainEqual(["X-REQUEST-ID", id]);
    expect(second?.fields.map(([name]) => name.toLowerCase())).not.toContain("x-request-id");
  });
});
