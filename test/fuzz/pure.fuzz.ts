import fc from "fast-check";
import { expect, it } from "vitest";
import { endToEnd, requestHeaders } from "../../src/http/headers.js";
import { verifyPath } from "../../src/route/verify-path.js";
import { answers, cuts, documents } from "../unit/mask/documents.js";
import { judge } from "../unit/mask/drive.js";
import { oracle } from "../unit/mask/oracle.js";
import { fuzz } from "./budget.js";

it("the scan gives the verdict that parsing gives", async () => {
  await fuzz(
    "scan of documents",
    fc.property(documents, cuts, ({ wire, plain }, cut) => {
      expect(judge(cut(Buffer.from(wire)))).toEqual(oracle(plain));
    }) as never,
  );
});

it("the scan comes to a verdict on any bytes", async () => {
  const damaged = fc
    .tuple(answers, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }), fc.nat(400))
    .map(([{ wire }, flips, end]) => {
      const bytes = Buffer.from(wire);
      for (const [at, byte] of flips) if (at < bytes.length) bytes[at] = byte;
      return end < bytes.length && end % 3 === 0 ? bytes.subarray(0, end) : bytes;
    });
  await fuzz(
    "scan of damaged documents",
    fc.property(damaged, cuts, (bytes, cut) => {
      const { verdict } = judge(cut(bytes));
      expect(verdict).toEqual(judge([bytes]).verdict);
      const text = bytes.toString("latin1");
      if (!/mask|_ng_|\\u/.test(text)) expect(verdict).not.toBe("masked");
    }) as never,
  );
});

/** Starlette's reading, written anew: the path up to the query, unquoted, against the route's pattern with Python's `$`. */
function served(target: string): boolean {
  const [path = ""] = target.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*/, "").split(/[?#]/);
  const bytes: number[] = [];
  for (let i = 0; i < path.length; i += 1) {
    const hex = /^%[0-9A-Fa-f]{2}/.exec(path.slice(i, i + 3))?.[0];
    bytes.push(hex === undefined ? path.charCodeAt(i) : Number.parseInt(hex.slice(1), 16));
    if (hex !== undefined) i += 2;
  }
  const decoded = String.fromCharCode(...bytes);
  return /^(?:\/ng-rollout\/[A-Za-z0-9][A-Za-z0-9._-]*)?\/verify\n?$(?!\n)/.test(decoded);
}

it("the path judge sees every path that the server serves as a verify", async () => {
  const piece = fc.constantFrom(
    ...[
      "/verify",
      "/ng-rollout/",
      "/",
      "a",
      ".",
      "..",
      "%2e",
      "%2F",
      "%0a",
      "%00",
      "%76",
      "%",
      ";",
    ],
    ...["?", "#", "\\", "http://h", "x:", "//", "%25", "%ff", "%c0%af", "*", "verify", "-"],
  );
  const targets = fc.oneof(
    fc.array(piece, { maxLength: 7 }).map((parts) => parts.join("")),
    fc.tuple(piece, piece).map(([a, b]) => `${a}/verify${b}`),
    fc.string({ maxLength: 40 }),
  );
  await fuzz(
    "path judge",
    fc.property(targets, (target) => {
      expect(verifyPath(target) !== undefined).toBe(served(target));
    }) as never,
  );
});

const fieldName = fc.oneof(
  fc.constantFrom(
    ...["Connection", "keep-alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie"],
    ...["Host", "Content-Length", "X-A", "x-a", "__proto__", "constructor", "Cookie"],
    ...["Via", "Authorization", "Vary"],
  ),
  fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/),
);
const fieldValue = fc.oneof(
  fc.constantFrom(
    "close",
    "keep-alive, X-A",
    "host",
    "x-a,, set-cookie",
    "content-length",
    "chunked",
    "",
  ),
  fc.string({ maxLength: 20 }),
);

it("the header stripper drops what is for one hop, and nothing else", async () => {
  await fuzz(
    "header stripper",
    fc.property(fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 12 }), (fields) => {
      const raw = fields.flat();
      const kept = endToEnd(raw);
      expect(endToEnd(kept)).toEqual(kept);
      const named = fields
        .filter(([name]) => name.toLowerCase() === "connection")
        .flatMap(([, value]) => value.split(",").map((token) => token.trim().toLowerCase()));
      const hop = new Set([
        ...[
          "connection",
          "keep-alive",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
        ],
        ...named.filter((name) => name !== "host" && name !== "content-length"),
      ]);
      const expected = fields.filter(([name]) => !hop.has(name.toLowerCase()));
      expect(kept).toEqual(expected.flat());
      const asked = requestHeaders("GET", raw);
      const framing = (list: readonly string[]): string[] =>
        list.filter(
          (_, i) => i % 2 === 0 && /^(?:content-length|transfer-encoding|host)$/i.test(list[i]!),
        );
      expect(framing(asked)).toEqual(framing(raw));
    }) as never,
  );
});
