import { describe, expect, it } from "vitest";
import { valuesOf } from "../../../src/http/headers.js";
import { failureReply, maskedReply } from "../../../src/http/reply.js";

const masked = {
  verdict: "masked",
  signal: "mask_sample",
  signals: ["mask_sample"],
  kind: "judge_failed",
  reason: "judge\r\nSet-Cookie: evil=1",
} as const;

describe("maskedReply", () => {
  it("keeps cookies and unrelated fields and drops what describes the old body", () => {
    const { headers, body } = maskedReply(masked, [
      "date",
      "Mon",
      "Content-Length",
      "9999",
      "Content-Encoding",
      "gzip",
      "ETag",
      '"x"',
      "Content-MD5",
      "a",
      "Last-Modified",
      "b",
      "Cache-Control",
      "public",
      "Retry-After",
      "3",
      "Transfer-Encoding",
      "chunked",
      "set-cookie",
      "a=1, x",
      "X-Y",
      "z",
      "set-cookie",
      "b=2",
      "maskgate-verdict",
      "forged",
    ]);
    expect(headers).toEqual([
      "date",
      "Mon",
      "set-cookie",
      "a=1, x",
      "X-Y",
      "z",
      "set-cookie",
      "b=2",
      "content-type",
      "application/problem+json",
      "content-length",
      String(body.length),
      "cache-control",
      "no-store",
      "maskgate-verdict",
      "masked",
    ]);
  });

  it("says the reason on one line in the phrase and whole in the body", () => {
    const reply = maskedReply(masked, []);
    expect(reply.status).toBe(503);
    expect(reply.phrase).toBe("Masked: judge_failed: judge Set-Cookie: evil=1");
    expect(JSON.parse(reply.body.toString())).toEqual({
      type: "urn:maskgate:problem:masked",
      title: "The reward of this answer is not a measurement",
      status: 503,
      detail: masked.reason,
      failure_kind: "judge_failed",
      failure_reason: masked.reason,
      signal: "mask_sample",
      mask_sample: true,
    });
  });

  it("takes the status that the route gives", () => {
    const reply = maskedReply(masked, [], 424);
    expect(reply.status).toBe(424);
    expect(JSON.parse(reply.body.toString())).toMatchObject({ status: 424 });
  });
});

describe("failureReply", () => {
  it("can never be taken for a mask", () => {
    const reply = failureReply("UPSTREAM_RESET", "gone");
    expect(reply.status).toBe(502);
    expect(valuesOf(reply.headers, "maskgate-verdict")).toEqual(["upstream-error"]);
    expect(JSON.parse(reply.body.toString())).toMatchObject({
      code: "UPSTREAM_RESET",
      detail: "gone",
    });
  });
});
