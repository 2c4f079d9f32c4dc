import { describe, expect, it } from "vitest";
import { valueOf, valuesOf } from "../helpers/http-bytes.js";
import { answer, MASKED, maskedFor, SCORED, verify } from "../helpers/messages.js";
import { rawRequest } from "../helpers/raw-client.js";
import { through } from "../helpers/through.js";

const PHRASE = /^[ -~]+$/;

interface Problem {
  readonly [member: string]: unknown;
  readonly detail: string;
  readonly failure_reason: string;
}

function problemOf(text: string): Problem {
  return JSON.parse(text) as Problem;
}

describe("the error for a masked answer", () => {
  it("has the status line, the fields and the members of the design", async () => {
    const { reply } = await through(
      answer(MASKED, {
        headers: [
          ["date", "Mon, 30 Nov 2026 00:00:00 GMT"],
          ["server", "uvicorn"],
          ["vary", "Cookie"],
        ],
      }),
    );
    expect(reply.line).toBe("HTTP/1.1 503 Masked: judge_failed: the judge is gone");
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["masked"]);
    expect(valuesOf(reply.fields, "cache-control")).toEqual(["no-store"]);
    expect(valuesOf(reply.fields, "content-type")).toEqual(["application/problem+json"]);
    expect(valuesOf(reply.fields, "content-length")).toEqual([String(reply.body.length)]);
    expect(valuesOf(reply.fields, "date")).toEqual(["Mon, 30 Nov 2026 00:00:00 GMT"]);
    expect(valuesOf(reply.fields, "server")).toEqual(["uvicorn"]);
    expect(valuesOf(reply.fields, "vary")).toEqual(["Cookie"]);
    expect(valuesOf(reply.fields, "retry-after")).toEqual([]);
    const problem = problemOf(reply.text);
    expect(Object.keys(problem).toSorted()).toEqual([
      "detail",
      "failure_kind",
      "failure_reason",
      "mask_sample",
      "signal",
      "status",
      "title",
      "type",
    ]);
    expect(problem).toMatchObject({
      status: 503,
      detail: "the judge is gone",
      failure_kind: "judge_failed",
      failure_reason: "the judge is gone",
      signal: "mask_sample",
      mask_sample: true,
    });
    expect(problem["type"]).toBeTypeOf("string");
    expect(problem["title"]).toBeTypeOf("string");
  });

  it("replaces a maskgate-verdict that the upstream wrote itself", async () => {
    const { reply } = await through(
      answer(MASKED, { headers: [["Maskgate-Verdict", "upstream-error"]] }),
    );
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual(["masked"]);
  });

  // A12: a 503 must not invite a repeat.
  it("takes no Retry-After from the answer", async () => {
    const { reply } = await through(answer(MASKED, { headers: [["Retry-After", "1"]] }));
    expect(reply.status).toBe(503);
    expect(valuesOf(reply.fields, "retry-after")).toEqual([]);
  });

  it.each([
    ["failure_reason", { failure_reason: "R", _ng_failure_judge_error: "x", error: "x" }],
    ["_ng_failure_judge_error", { _ng_failure_judge_error: "R", _ng_failure_message: "x" }],
    ["_ng_failure_message", { _ng_failure_message: "R", judge_response: { error: "x" } }],
    ["judge_response.error", { judge_response: { error: "R" }, judge_generation_error: "x" }],
    ["judge_generation_error", { judge_generation_error: "R", error: "x" }],
    ["error", { failure_reason: "", error: "R" }],
  ])("takes the reason from %s", async (_, members) => {
    const body = JSON.stringify({ reward: 0, mask_sample: true, failure_kind: "k", ...members });
    const { reply } = await through(answer(body));
    expect(reply.reason).toBe("Masked: k: R");
    expect(problemOf(reply.text).detail).toBe("R");
  });

  it.each([
    ["failure_kind", { failure_kind: "a", _ng_failure_class: "b" }, "a"],
    ["_ng_failure_class", { failure_kind: null, _ng_failure_class: "b" }, "b"],
    ["neither", {}, "unspecified"],
  ])("takes the kind from %s", async (_, members, kind) => {
    const body = JSON.stringify({ mask_sample: true, failure_reason: "R", ...members });
    const { reply } = await through(answer(body));
    expect(reply.reason).toBe(`Masked: ${kind}: R`);
  });
});

// A26: whatever the reason holds, one status line comes out, and the reason whole in the body.
describe("a reason", () => {
  const evil = "a\r\nSet-Cookie: evil=1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}";
  it.each([
    [
      "line breaks",
      "Missing key policy_model\n    full_key: x\r\n\tobject_type=dict",
      /policy_model full_key: x object_type=dict$/,
    ],
    ["header-looking text", evil, /^Masked: judge_failed: a Set-Cookie: evil=1 HTTP\/1\.1 200 OK/],
    ["NUL and other controls", "a\u0000b\u0001\u001b\u007f\u0085c", /^Masked: judge_failed: a/],
    ["lone surrogates", "x\ud83d y\ude00 z", /^Masked: judge_failed: x/],
    ["line separators", "a\u2028b\u2029c\u00a0d\ufeffe", /^Masked: judge_failed: a/],
    ["CJK", "超时", /^Masked: judge_failed: /],
    ["emoji", "judge 😀 down", /^Masked: judge_failed: judge .*down$/],
    ["latin letters", "überlastet", /^Masked: judge_failed: .*berlastet$/],
    ["5,000 characters", "long ".repeat(1000), /^Masked: judge_failed: long long/],
    ["5,000 CJK characters", "超".repeat(5000), /^Masked: judge_failed: /],
    ["a quote and a backslash", 'say "no\\"', /say "no\\"$/],
  ])("with %s is one printable phrase, and whole in the body", async (_, reason, phrase) => {
    const { reply, proxy } = await through(answer(maskedFor(reason)));
    expect(reply.status).toBe(503);
    expect(reply.reason).toMatch(PHRASE);
    expect(reply.reason).toMatch(phrase);
    expect(reply.reason).not.toMatch(/ {2}/);
    expect(Buffer.byteLength(reply.reason)).toBeLessThanOrEqual(200);
    expect(problemOf(reply.text).detail).toBe(reason);
    expect(problemOf(reply.text).failure_reason).toBe(reason);
    expect(valuesOf(reply.fields, "set-cookie")).toEqual([]);
    expect(valueOf(reply.fields, "content-length")).toBe(String(reply.body.length));
    expect((await rawRequest(proxy.url, verify())).status).toBe(503);
  });

  it("in raw UTF-8 and in escapes is the same text", async () => {
    const raw = await through(answer('{"mask_sample":true,"failure_reason":"超时 😀 é"}'));
    const escaped = await through(
      answer('{"mask_sample":true,"failure_reason":"\\u8d85\\u65f6 \\ud83d\\ude00 \\u00e9"}'),
    );
    expect(problemOf(raw.reply.text).detail).toBe("超时 😀 é");
    expect(escaped.reply.text).toBe(raw.reply.text);
  });

  it.each([
    ["missing", { mask_sample: true }],
    ["null", { mask_sample: true, failure_reason: null }],
    ["empty", { mask_sample: true, failure_reason: "" }],
    ["no text", { mask_sample: true, failure_reason: { a: 1 }, error: 5 }],
  ])("that is %s becomes a plain sentence", async (_, members) => {
    const { reply } = await through(answer(JSON.stringify({ reward: 0, ...members })));
    expect(reply.reason).toMatch(/^Masked: unspecified: [A-Za-z][ -~]{10,}$/);
    expect(problemOf(reply.text).detail).toMatch(/^[A-Za-z][ -~]{10,}$/);
  });

  it.each([
    ["line breaks", "a\r\nX-Evil: 1\r\n\r\n"],
    ["CJK", "超时"],
    ["5,000 characters", "k".repeat(5000)],
  ])("survives a kind with %s", async (_, kind) => {
    const { reply } = await through(answer(maskedFor("R", { failure_kind: kind })));
    expect(reply.status).toBe(503);
    expect(reply.reason).toMatch(PHRASE);
    expect(Buffer.byteLength(reply.reason)).toBeLessThanOrEqual(200);
    expect(valuesOf(reply.fields, "x-evil")).toEqual([]);
    expect(problemOf(reply.text)).toMatchObject({ detail: "R", mask_sample: true });
  });
});

describe("the default", () => {
  it("turns nothing into an error: started with only an upstream, a masked answer passes", async () => {
    const { reply } = await through(answer(MASKED), verify(), { maskedAsError: false });
    expect(reply.status).toBe(200);
    expect(reply.text).toBe(MASKED);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
  });

  it("adds nothing to a scored answer on a strict route either", async () => {
    const { reply } = await through(answer(SCORED));
    expect(reply.text).toBe(SCORED);
    expect(valuesOf(reply.fields, "maskgate-verdict")).toEqual([]);
    expect(valuesOf(reply.fields, "date")).toEqual([]);
  });
});
