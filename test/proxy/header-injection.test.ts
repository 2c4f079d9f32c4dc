import { describe, expect, it } from "vitest";
import { valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, request, SCORED, verify } from "../helpers/messages.js";
import { startProxy } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";
import { startUpstream } from "../helpers/upstream.js";

// A26: odd bytes of the upstream give a whole answer or 502, and the proxy lives on.
describe.each([
  ["a scored verify", SCORED, 200, true],
  ["a masked verify", MASKED, 503, true],
  ["a passthrough route", MASKED, 200, false],
] as const)("for %s", (_, body, status, maskedAsError) => {
  it("a Set-Cookie with byte 0xE9 goes on with that byte", async () => {
    const headers = [["Set-Cookie", "name=caf\xe9; path=/"]] as const;
    const { reply } = await through(answer(body, { headers }), verify(), { maskedAsError });
    expect(reply.status).toBe(status);
    expect(valuesOf(reply.fields, "set-cookie")).toEqual(["name=caf\xe9; path=/"]);
  });

  it("a value in UTF-8 goes on with its bytes", async () => {
    const value = Buffer.from("超时 😀").toString("latin1");
    const headers = [["X-Judge", value]] as const;
    const { reply } = await through(answer(body, { headers }), verify(), { maskedAsError });
    expect(reply.status).toBe(status);
    expect(valuesOf(reply.fields, "x-judge")).toEqual([value]);
  });

  it.each(["\x01", "\x00", "\x7f", "\x1b[31m"])(
    "a Set-Cookie with %j is whole or 502",
    async (odd) => {
      const bytes = answer(body, { headers: [["Set-Cookie", `a=${odd}b`]] });
      const upstream = await startUpstream(async ({ received, whole, write }) => {
        await whole;
        write(received.target === "/next" ? answer('"next"') : bytes);
      });
      const proxy = await startProxy(upstream, { maskedAsError });
      const reply = await rawRequest(proxy.url, verify());
      expect([status, 502]).toContain(reply.status);
      expect(reply.complete).toBe(true);
      if (reply.status === 502) {
        expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
      } else {
        expect(valuesOf(reply.fields, "set-cookie")).toEqual([`a=${odd}b`]);
      }
      expect((await rawRequest(proxy.url, request("GET", "/next"))).text).toBe('"next"');
      expect(upstream.requests).toHaveLength(2);
    },
  );

  it.each([
    ["DEL", "a\x7fb"],
    ["a value on two lines", "a\r\n b"],
  ])("a field with %s is 502", async (_name, value) => {
    const bytes = answer(body, { headers: [["X-Odd", value]] });
    const { reply } = await through(bytes, verify(), { maskedAsError });
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["upstream-error"]);
  });

  it("a status phrase with odd bytes is whole or 502", async () => {
    for (const reason of ["\x01", "caf\xe9", "a\tb"]) {
      const { reply } = await through(answer(body, { reason }), verify(), { maskedAsError });
      expect([status, 502]).toContain(reply.status);
      expect(reply.complete).toBe(true);
    }
  });
});

it("a request's field with bytes over 0x7F goes on with its bytes", async () => {
  const value = Buffer.from("überlastet").toString("latin1");
  const { upstream } = await through(answer(SCORED), verify([["X-Name", value]]));
  expect(valuesOf(upstream.requests[0]?.fields ?? [], "x-name")).toEqual([value]);
});
