import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  endToEnd,
  hasBody,
  hasHeader,
  mapValues,
  requestHeaders,
  tokensOf,
  valuesOf,
} from "../../../src/http/headers.js";

describe("endToEnd", () => {
  it("drops hop-by-hop fields and those that Connection names, whatever their case", () => {
    const headers = [
      "Connection",
      "close, X-Hop",
      "x-hop",
      "1",
      "KEEP-ALIVE",
      "timeout=1",
      "Vary",
      "A",
      "Vary",
      "B",
      "X-MixedCase",
      "c",
    ];
    expect(endToEnd(headers)).toEqual(["Vary", "A", "Vary", "B", "X-MixedCase", "c"]);
  });

  it("keeps length, host and what says how the body is to be read even where Connection names them", () => {
    const kept = [
      ...["Content-Length", "3", "Host", "h", "Content-Encoding", "deflate"],
      ...["Content-Type", "application/json", "Content-Range", "bytes 0-2/3"],
    ];
    const named = kept.filter((_, i) => i % 2 === 0).join(", ");
    expect(endToEnd(["Connection", named, ...kept])).toEqual(kept);
    expect(requestHeaders("POST", ["Connection", named, ...kept])).toEqual(kept);
  });

  it("is idempotent and keeps every set-cookie in order", () => {
    const name = fc.constantFrom(
      "Set-Cookie",
      "set-cookie",
      "Connection",
      "TE",
      "X-A",
      "__proto__",
      "constructor",
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        const headers = pairs
          .filter(([n, v]) => n !== "Connection" || !/set-cookie/i.test(v))
          .flat();
        const once = endToEnd(headers);
        expect(endToEnd(once)).toEqual(once);
        expect(valuesOf(once, "set-cookie")).toEqual(valuesOf(headers, "set-cookie"));
      }),
    );
  });
});

describe("requestHeaders", () => {
  it("keeps the transfer coding, which frames the body that follows", () => {
    expect(
      requestHeaders("DELETE", [
        "TE",
        "trailers",
        "Transfer-Encoding",
        "chunked",
        "Expect",
        "100-continue",
      ]),
    ).toEqual(["Transfer-Encoding", "chunked", "Expect", "100-continue"]);
  });
});

describe("requestHeaders of a request without a body", () => {
  it("says so for the methods that Node would otherwise frame as chunked", () => {
    expect(requestHeaders("POST", ["A", "1"])).toEqual(["A", "1", "content-length", "0"]);
    expect(requestHeaders("POST", ["Content-Length", "3"])).toEqual(["Content-Length", "3"]);
    expect(requestHeaders("GET", ["A", "1"])).toEqual(["A", "1"]);
  });
});

describe("reading fields", () => {
  it("splits lists over several fields into tokens", () => {
    expect(tokensOf(["Connection", "a, B", "X", "y", "connection", " c,,"], "connection")).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  it("knows whether a body follows", () => {
    expect(hasBody(["Content-Length", "0"])).toBe(true);
    expect(hasBody(["transfer-encoding", "chunked"])).toBe(true);
    expect(hasBody(["x", "y"])).toBe(false);
    expect(hasHeader(["Content-Lengti", "0"], "content-length")).toBe(false);
  });

  it("changes the values of one field and nothing else", () => {
    const headers = [
      "A",
      "1",
      "accept-encoding",
      "x",
      "Accept-Encoding",
      "y",
      "B",
      "accept-encoding",
    ];
    expect(mapValues(headers, "accept-encoding", (v) => `${v}!`)).toEqual([
      "A",
      "1",
      "accept-encoding",
      "x!",
      "Accept-Encoding",
      "y!",
      "B",
      "accept-encoding",
    ]);
    const untouched = ["A", "1"];
    expect(mapValues(untouched, "b", () => "2")).toBe(untouched);
  });
});
