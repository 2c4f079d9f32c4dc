import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../../src/config/resolve.js";
import { explain, type Explanation, type RouteEffect } from "../../../src/explain/explain.js";
import { readGiven } from "../../../src/explain/given.js";
import { explanationLines } from "../../../src/explain/lines.js";
import type { Route } from "../../../src/route/route.js";

const MASKED =
  '{"responses_create_params":{"input":[]},"reward":0.0,"mask_sample":true,' +
  '"failure_kind":"judge_failed","failure_reason":"the judge\\n is gone"}';

function routesOf(yaml: string): readonly Route[] {
  const result = resolveConfig(
    {},
    { name: "f", text: `{upstream: "http://h:1", routes: [${yaml}]}` },
  );
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return result.config.routes;
}

function explained(text: string, yaml: string): Explanation {
  return explain(readGiven(Buffer.from(text)), routesOf(yaml), ["/verify"]);
}

function effect(text: string, yaml: string): RouteEffect {
  return explained(text, yaml).routes[0]!;
}

describe("an explanation", () => {
  it("says where each signal stands, in bytes of the answer", () => {
    const text = `{"é":"€","instance_config":{"mask_sample":1},"_ng_failure_class":"x"}`;
    const { verdict, places } = explained(text, "");
    expect(verdict).toMatchObject({ verdict: "masked", signal: "instance_config.mask_sample" });
    expect(places.map(({ member, text: value }) => [member, value])).toEqual([
      ["instance_config.mask_sample", "1"],
      ["_ng_failure_class", '"x"'],
    ]);
    for (const { start, end, text: value } of places) {
      expect(Buffer.from(text).toString("utf8", start, end)).toBe(value);
    }
  });

  it("has the very reply of a strict route", () => {
    const { reply, decision } = effect(MASKED, "{name: s, mode: strict}");
    expect(decision).toBe("translate");
    expect(reply).toMatchObject({ status: 503, phrase: "Masked: judge_failed: the judge is gone" });
    expect(reply?.headers).toContain("maskgate-verdict");
    expect(JSON.parse(reply?.body ?? "")).toMatchObject({
      failure_reason: "the judge\n is gone",
      signal: "mask_sample",
    });
  });

  it.each([
    ["null", '"reward":null'],
    ["nan", '"reward":NaN'],
    ["mirror", '"instance_config":{"mask_sample":true}'],
  ])("has the bytes that %s makes", (translation, member) => {
    const { reply } = effect(MASKED, `{name: s, mode: strict, translation: ${translation}}`);
    expect(reply).toMatchObject({ status: 200, body: expect.stringContaining(member) });
    const { headers = [], body = "" } = reply ?? {};
    expect(headers[headers.indexOf("content-length") + 1]).toBe(String(Buffer.byteLength(body)));
  });

  it.each([
    ["{name: p, mode: passthrough}", "route is passthrough"],
    ["{name: o, mode: observe}", "route is not strict"],
    ["{name: s, mode: strict, except: [judge_*]}", "kind is excluded"],
    ["{name: s, mode: strict, ramp: {percentage: 0}}", "held back by ramp"],
    ["{name: s, mode: strict, ramp: {percentage: 50, by: session}}", "no key for the ramp"],
  ])("says why %s passes it on", (yaml, because) => {
    expect(effect(MASKED, yaml)).toMatchObject({ decision: "pass", because, reply: undefined });
  });

  it("shows the key and the bucket that a ramp goes by", () => {
    const by = effect(MASKED, "{name: s, mode: strict, ramp: {percentage: 50, salt: a}}");
    expect(by.key).toMatch(/^[0-9a-f]{64}$/);
    expect(by.decision).toBe((by.bucket ?? 0) < 5000 ? "translate" : "pass");
  });

  it("hears a route's own signals", () => {
    const text = '{"reward":0,"failure_reason":"session not found"}';
    const yaml = "{name: s, mode: strict, signals: [{member: failure_reason, matches: session}]}";
    expect(explained(text, yaml).verdict).toEqual({ verdict: "scored" });
    expect(effect(text, yaml)).toMatchObject({ verdict: "masked", signal: "failure_reason" });
  });

  it("is for people too", () => {
    const lines = explanationLines(
      explained(
        MASKED,
        "{name: s, mode: strict, match: {pathPrefix: /v}}, {name: p, mode: passthrough}",
      ),
    );
    const at = MASKED.indexOf("true");
    expect(lines.slice(0, 3)).toEqual([
      "masked: judge_failed",
      "  reason: the judge is gone",
      `  signal: mask_sample is true, bytes ${at} to ${at + 4} of ${MASKED.length}`,
    ]);
    expect(lines).toContain("  HTTP/1.1 503 Masked: judge_failed: the judge is gone");
    expect(lines.at(-1)).toBe("route p (passthrough): passed on as it is (route is passthrough)");
  });
});

describe("a recorded exchange", () => {
  const folder = new URL("../../fixtures/answers/", import.meta.url);
  it("is read as its answer was, for every one that was recorded", () => {
    const routes = routesOf("{name: s, mode: strict}");
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    expect(files.length).toBeGreaterThan(100);
    for (const name of files) {
      const bytes = readFileSync(new URL(name, folder));
      const exchange = JSON.parse(bytes.toString()) as {
        request: { method: string; path: string };
        response: { status: number; bodyText: string };
      };
      const given = readGiven(bytes);
      expect(given.body.toString()).toBe(exchange.response.bodyText);
      const {
        routes: [found],
        verdict,
      } = explain(given, routes, ["/verify"]);
      expect(found?.taken).toBe(true);
      if (exchange.response.status !== 200) expect(found?.because).toMatch(/only a 200/);
      else if (exchange.request.method !== "POST") expect(found?.because).toMatch(/no verify/);
      if (found?.decision === "translate") expect(verdict.verdict).toBe("masked");
    }
  });

  it("takes the route that its request matches", () => {
    const exchange = JSON.stringify({
      request: { method: "POST", path: "/v/verify", headers: [["X-Client", "c"]] },
      response: { status: 200, headers: [["Set-Cookie", "a=1"]], bodyText: MASKED },
    });
    const { routes } = explained(
      exchange,
      "{name: h, mode: strict, match: {header: {x-client: d}}}, {name: v, mode: strict, match: {pathPrefix: /v}}",
    );
    expect(routes.map(({ route, taken }) => [route, taken])).toEqual([
      ["h", false],
      ["v", true],
    ]);
    expect(routes[1]?.reply?.headers.slice(0, 2)).toEqual(["Set-Cookie", "a=1"]);
    expect(routes[0]?.because).toMatch(/no verify request/);
  });
});

describe("the lines of an explanation", () => {
  it("hold nothing of an answer that a terminal obeys", () => {
    const evil = "k\u009b31m\u202e\u2028\u007f";
    const body = {
      reward: 0,
      mask_sample: evil,
      failure_kind: `\u001b[2J${evil}`,
      failure_reason: evil,
    };
    const head = `HTTP/1.1 200 OK\r\nx-evil: \u009b2J\r\n\r\n`;
    for (const translation of ["error", "null"]) {
      const lines = explanationLines(
        explained(
          `${head}${JSON.stringify(body)}`,
          `{name: r, mode: strict, translation: ${translation}}`,
        ),
      );
      expect(lines.join("")).toContain("31m");
      expect(lines.join("")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    }
  });
});
