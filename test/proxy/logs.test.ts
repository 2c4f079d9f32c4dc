import { describe, expect, it } from "vitest";
import { type Field } from "../helpers/http-bytes.js";
import { answer, MASKED, maskedFor, request, SCORED, verify } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

describe("a masked answer", () => {
  it("is one line at info, with what was found and how long it took", async () => {
    const { proxy } = await through(answer(MASKED));
    const line = await proxy.nextLog("translated");
    expect(line).toMatchObject({
      level: 30,
      kind: "judge_failed",
      signal: "mask_sample",
      route: "default",
      status: 503,
    });
    const numbers = Object.entries(line).filter(([, value]) => typeof value === "number");
    expect(numbers.map(([, value]) => value)).toContain(MASKED.length);
    expect(numbers.filter(([name]) => /ms$/i.test(name)).length).toBeGreaterThanOrEqual(1);
    await proxy.nextLog("request");
    expect(proxy.logged("translated")).toHaveLength(1);
  });

  it.each([
    ["2,000 characters and line breaks", "line\r\n".repeat(350)],
    ["control characters", "\u0000\u001b[31m\u2028"],
  ])("whose reason has %s is one short line", async (_, reason) => {
    const { proxy } = await through(answer(maskedFor(reason)));
    const line = await proxy.nextLog("translated");
    for (const value of Object.values(line)) {
      if (typeof value !== "string") continue;
      expect(value.length).toBeLessThanOrEqual(300);
      expect(value).toMatch(/^[ -~]*$/);
    }
  });

  it("whose kind is long or has line breaks is a short line", async () => {
    for (const kind of ["k".repeat(5000), "a\r\nb\u001b"]) {
      const { proxy } = await through(answer(maskedFor("R", { failure_kind: kind })));
      const line = JSON.stringify(await proxy.nextLog("translated"));
      expect(line.length).toBeLessThanOrEqual(1000);
    }
  });
});

it("writes one line a request at debug, and nothing else for a scored answer", async () => {
  const { proxy } = await through(answer(SCORED), verify(), { maskedAsError: true });
  const line = await proxy.nextLog("request");
  expect(line).toMatchObject({ level: 20, route: "default", status: 200 });
  const atDebug = proxy.logs.filter(({ level }) => Number(level) >= 20);
  expect(atDebug.map(({ event }) => event)).toEqual(["request"]);
});

// A29: whoever reads the log must not get into a rollout.
describe("a log at its most talkative", () => {
  const SECRETS: readonly Field[] = [
    ["Cookie", "session=SECRET1"],
    ["cOOkie", "b=SECRET2"],
    ["Authorization", "Bearer SECRET3"],
    ["X-NeMo-Gym-Session-Token", "SECRET4"],
    ["x-nemo-gym-session-token", "SECRET5"],
    ["X-NEMO-GYM-SESSION-TOKEN", "SECRET6"],
    ["Proxy-Authorization", "SECRET7"],
  ];
  const target = "/verify?token=SECRET8&x=SECRET9";
  const bytes = request("POST", target, { headers: SECRETS, body: '{"text":"SECRET10"}' });
  const cookies: readonly Field[] = [["Set-Cookie", "s=SECRET11"]];

  it.each([
    ["a scored answer", answer('{"reward":1,"text":"SECRET12"}', { headers: cookies })],
    ["a masked answer", answer(maskedFor("R", { text: "SECRET12" }), { headers: cookies })],
    ["a failed answer", answer("SECRET12", { status: 500, reason: "No", headers: cookies })],
    [
      "an unreadable answer",
      answer("SECRET12", { headers: [...cookies, ["Content-Encoding", "x"]] }),
    ],
    [
      "an answer cut short",
      answer("SECRET12", { headers: [["Content-Length", "99"]], length: false }),
    ],
    ["no answer of HTTP", Buffer.from("SECRET12\r\n\r\n")],
  ])("holds no body, cookie or token for %s", async (_, reply) => {
    const upstream = await startUpstream(async ({ whole, end }) => {
      await whole;
      end(reply);
    });
    for (const mode of MODES) {
      const proxy = await startInMode(mode, upstream);
      await rawRequest(proxy.url, bytes);
      // An answer that was cut after its beginning has no line of its own.
      await Promise.race([proxy.nextLog("request"), proxy.nextLog("upstream_error")]);
      await proxy.close();
      expect(JSON.stringify(proxy.logs)).not.toContain("SECRET");
    }
  });

  it.each([
    "http://SECRET:SECRET@gym.example/verify",
    "/verify#SECRET",
    "HTTP://SECRET@y/verify#SECRET",
  ])("holds no token of the target %s", async (asked) => {
    const { proxy } = await through(answer(MASKED), request("POST", asked, { body: "{}" }));
    expect((await proxy.nextLog("request"))["path"]).toContain("/");
    expect(JSON.stringify(proxy.logs)).not.toContain("SECRET");
  });

  it("holds none of them for a request that is refused, an upgrade that fails, or a client that left", async () => {
    const upstream = await startUpstream(({ reset }) => reset());
    const proxy = await startProxy(upstream);
    const malformed = Buffer.concat([bytes.subarray(0, -40), Buffer.from("X : SECRET\n\r\n\r\n")]);
    await rawRequest(proxy.url, malformed);
    await rawRequest(
      proxy.url,
      request("GET", "/ws?token=SECRET8", {
        headers: [...SECRETS, ["Connection", "Upgrade"], ["Upgrade", "websocket"]],
      }),
    ).catch(() => undefined);
    await rawRequest(proxy.url, bytes);
    await proxy.nextLog("request");
    expect(JSON.stringify(proxy.logs)).not.toContain("SECRET");
  });
});
