import { describe, expect, it } from "vitest";
import { endToEnd, type Field, valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, maskedFor, request, SCORED, verify } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest, type Reply } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const strict = (more: string): string => `routes: [{name: s, mode: strict, ${more}}]`;

interface Sent {
  readonly reply: Reply;
  readonly proxy: Proxy;
}

/** What a strict route of this kind makes of the answer; one that passes must be the direct one, and be logged once. */
async function send(more: string, bytes: Buffer, path = "/verify"): Promise<Sent> {
  const upstream = await startUpstream(bytes);
  const proxy = await startConfigured(upstream, strict(more));
  const asking = request("POST", path, { body: "{}" });
  const reply = await rawRequest(proxy.url, asking);
  if (reply.status === 200) {
    const direct = await rawRequest(upstream.url, asking);
    expect(reply.line).toBe(direct.line);
    expect(endToEnd(reply.fields)).toEqual(endToEnd(direct.fields));
    expect(reply.text).toBe(direct.text);
  }
  return { reply, proxy };
}

const COOKIE: Field = ["set-cookie", "Gym___gym=eyJzIjoxfQ==.abc.def; path=/"];
const KEYLESS = maskedFor("gone");

describe("a masked answer that the ramp holds back", () => {
  it.each([
    ["ramp: {percentage: 0}", answer(MASKED, { headers: [COOKIE] })],
    ["ramp: {percentage: 0, by: session}", answer(MASKED)],
    ["ramp: {percentage: 0}, translation: null", answer(MASKED)],
    ["ramp: {percentage: 0}, translation: mirror", answer(MASKED)],
    ["ramp: {percentage: 0.01}, translation: nan", answer(MASKED)],
  ])("(%s) passes as it is, with a line that says so", async (more, bytes) => {
    const { reply, proxy } = await send(more, bytes);
    expect(reply.status).toBe(200);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
    expect(await proxy.nextLog("let_through")).toMatchObject({
      level: 30,
      because: "held back by ramp",
      route: "s",
      mode: "strict",
      kind: "judge_failed",
      status: 200,
    });
    expect(proxy.logged("let_through")).toHaveLength(1);
    expect(proxy.logged("translated")).toEqual([]);
  });

  it.each([
    ["ramp: {percentage: 99.99}", KEYLESS, "/verify"],
    ["ramp: {percentage: 50}", KEYLESS, "/ng-rollout/abc/verify"],
    ["ramp: {percentage: 50, by: session}", MASKED, "/ng-rollout/7-0/verify"],
  ])("(%s, without a key) passes, and the line says why", async (more, body, path) => {
    const { reply, proxy } = await send(more, answer(body), path);
    expect(reply.status).toBe(200);
    expect(await proxy.nextLog("let_through")).toMatchObject({ because: "no key for the ramp" });
  });

  it.each([
    ["", KEYLESS],
    ["ramp: {percentage: 100}", KEYLESS],
    ["ramp: {percentage: 100, by: session}", MASKED],
  ])("needs no key at 100 %% (%s)", async (more, body) => {
    const { reply, proxy } = await send(more, answer(body));
    expect(reply.status).toBe(503);
    expect(await proxy.nextLog("translated")).toMatchObject({ level: 30, translation: "error" });
    expect(proxy.logged("let_through")).toEqual([]);
  });

  it("is told from a scored one, which has no line", async () => {
    const { reply, proxy } = await send("ramp: {percentage: 0}", answer(SCORED));
    expect(reply.text).toBe(SCORED);
    await proxy.nextLog("request");
    expect(proxy.logs.filter(({ level }) => Number(level) >= 30)).toEqual([]);
  });
});

describe("a masked answer of a kind", () => {
  it.each([
    ["only: [judge_failed]", "judge_failed", 503],
    ["only: [judge_failed]", "agent_timeout", 200],
    ["only: [judge_failed]", "judge_failed_twice", 200],
    ["only: [judge_failed]", "xjudge_failed", 200],
    ["only: ['provider_*']", "provider_", 503],
    ["only: ['provider_*']", "provider_rate_limit", 503],
    ["only: ['provider_*']", "provider", 200],
    ["only: ['usersim:?']", "usersim:a", 503],
    ["only: ['usersim:?']", "usersim:ab", 200],
    ["only: [a.b]", "axb", 200],
    ["only: [Judge]", "judge", 200],
    ["only: [unspecified]", null, 503],
    ["except: [agent_timeout]", "agent_timeout", 200],
    ["except: [agent_timeout]", "judge_failed", 503],
    ["except: ['*']", null, 200],
    ["except: ['*']", "two\nlines", 200],
    ["except: []", "agent_timeout", 503],
    ["only: ['provider_*'], except: [provider_x]", "provider_x", 200],
    ["only: ['provider_*'], except: [provider_x]", "provider_y", 503],
    ["except: [constructor]", "constructor", 200],
    ["only: [judge_failed]", "__proto__", 200],
  ])("(%s) %j becomes a %i", async (more, kind, status) => {
    const { reply, proxy } = await send(more, answer(maskedFor("gone", { failure_kind: kind })));
    expect(reply.status).toBe(status);
    const event = status === 200 ? "let_through" : "translated";
    const because = status === 200 ? { because: "kind is excluded" } : {};
    expect(await proxy.nextLog(event)).toMatchObject({ kind: kind ?? "unspecified", ...because });
  });

  it("is taken from _ng_failure_class where there is no other", async () => {
    const bytes = answer('{"reward":0,"_ng_failure_class":"judge_failed"}');
    expect((await send("except: [judge_failed]", bytes)).reply.status).toBe(200);
    expect((await send("only: [judge_failed]", bytes)).reply.status).toBe(503);
  });
});

describe("a signal of the route's own", () => {
  const more = "signals: [{member: failure_reason, matches: 'session (not|never) found'}]";
  const lost =
    '{"reward":0.0,"mask_sample":false,"failure_reason":"browser session not found at verify"}';

  it("makes an answer a masked one", async () => {
    const { reply, proxy } = await send(more, answer(lost));
    expect(reply.reason).toBe("Masked: unspecified: browser session not found at verify");
    expect(JSON.parse(reply.text)).toMatchObject({ signal: "failure_reason", mask_sample: true });
    expect(await proxy.nextLog("translated")).toMatchObject({ signal: "failure_reason" });
  });

  it.each([
    ["another text", '{"reward":0,"failure_reason":"empty answer"}'],
    ["the text in a member below", '{"reward":0,"a":{"failure_reason":"session not found"}}'],
    [
      "the text in the model's words",
      '{"reward":0,"t":"\\"failure_reason\\":\\"session not found\\""}',
    ],
    ["a value that is no text", '{"reward":0,"failure_reason":["session not found"]}'],
    [
      "the text in a member that is given again",
      '{"failure_reason":"session not found","failure_reason":null}',
    ],
  ])("is not made by %s", async (_, body) => {
    expect((await send(more, answer(body))).reply.status).toBe(200);
  });

  it("makes nobody's score of a text that is too long to be searched", async () => {
    const body = JSON.stringify({ reward: 0, failure_reason: `${"x".repeat(70_000)} not found` });
    const { reply } = await send(more, answer(body));
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["uninspectable"]);
  });

  it("leaves the server's own signals first", async () => {
    const { reply } = await send(more, answer(maskedFor("session not found")));
    expect(JSON.parse(reply.text)).toMatchObject({ signal: "mask_sample" });
  });

  it("is on its route alone", async () => {
    const proxy = await startConfigured(
      await startUpstream(answer(lost)),
      `routes: [{name: a, match: {pathPrefix: /a}, mode: strict, ${more}}, {name: b, mode: strict}]`,
    );
    const asking = request("POST", "/a/verify", { body: "{}" });
    expect((await rawRequest(proxy.url, asking)).status).toBe(503);
    expect((await rawRequest(proxy.url, verify())).status).toBe(200);
  });
});

it.each([424, 400, 599])("the error has the route's own status, %i", async (status) => {
  const { reply, proxy } = await send(`status: ${status}`, answer(MASKED, { headers: [COOKIE] }));
  expect(reply.line).toBe(`HTTP/1.1 ${status} Masked: judge_failed: the judge is gone`);
  expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["masked"]);
  expect(valuesOf(reply.fields, "set-cookie")).toEqual([COOKIE[1]]);
  expect(JSON.parse(reply.text)).toMatchObject({ status, mask_sample: true });
  expect(await proxy.nextLog("translated")).toMatchObject({ status });
});
