import http, { type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { mapValues, valuesOf, without } from "../../../src/http/headers.js";
import type { AnswerScan } from "../../../src/mask/scan.js";
import type { Verdict } from "../../../src/mask/verdict.js";
import type { Outgoing } from "../../../src/proxy/forward.js";
import { changed, type Mutant, only, partsOf, rewriting, withBody } from "./mutant.js";

const MEBIBYTE = 1024 * 1024;
/** The first byte of these frames, each in one piece (RFC 6455 §5.2). */
const CLOSE_FRAME = 0x88;
const PING_FRAME = 0x89;

const retarget =
  (edit: (target: string) => string) =>
  (outgoing: Outgoing): Outgoing => ({ ...outgoing, target: edit(outgoing.target) });

const withHeaders =
  (edit: (headers: Outgoing["headers"]) => Outgoing["headers"]) =>
  (outgoing: Outgoing): Outgoing => ({ ...outgoing, headers: edit(outgoing.headers) });

const KNOWN_FIELD = /^(?:host|x-a|content-length)$/i;

const isKnown = ({ headers }: Outgoing): boolean =>
  headers.every((name, at) => at % 2 === 1 || KNOWN_FIELD.test(name));

const OF_ONE_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

const ANY_MASK: Verdict = {
  ...{ verdict: "masked", signal: "mask_sample", signals: ["mask_sample"] },
  ...{ kind: "unspecified", reason: "The server gave no reason." },
};

const isJson = ({ headers }: IncomingMessage): boolean =>
  /json/.test(headers["content-type"] ?? "") && !("content-encoding" in headers);

/** Does what JSON.parse and JSON.stringify do to a text that they can read. */
function rewritten(body: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(JSON.parse(body.toString())));
  } catch {
    return body;
  }
}

function unzipped(body: Buffer): Buffer {
  try {
    return gunzipSync(body);
  } catch {
    return body;
  }
}

/** Proxies that are each wrong in one way, every one of which has been seen in the wild. */
export const MUTANTS = {
  none: {},
  "Host rewritten": {
    outgoing: (outgoing, { upstream }) => ({
      ...outgoing,
      headers: mapValues(outgoing.headers, "host", () => new URL(upstream.url).host),
    }),
  },
  "x-* dropped": {
    outgoing: withHeaders((headers) => only(headers, (name) => !name.startsWith("x-"))),
  },
  "hop-by-hop fields passed on": { kept: (_, all) => [...all] },
  "fields that Connection names passed on": { kept: (_, all) => without(all, OF_ONE_HOP) },
  "an end-to-end field dropped": { kept: (kept) => without(kept, new Set(["via"])) },
  "last Set-Cookie only": {
    answer: (answer) => {
      const last = answer.rawHeaders.findLastIndex((name) => name.toLowerCase() === "set-cookie");
      const isKept = (name: string, _: string, at: number) => name !== "set-cookie" || at === last;
      return changed(answer, { rawHeaders: only(answer.rawHeaders, isKept) });
    },
  },
  "Cookie fields joined by a comma": {
    outgoing: withHeaders((headers) => {
      const cookies = valuesOf(headers, "cookie");
      if (cookies.length < 2) return headers;
      return [...without(headers, new Set(["cookie"])), "Cookie", cookies.join(", ")];
    }),
  },
  "query dropped": { outgoing: retarget((target) => target.split("?", 1)[0]!) },
  "%2F decoded": { outgoing: retarget((target) => target.replaceAll(/%2f/gi, "/")) },
  "// folded": { outgoing: retarget((target) => target.replaceAll(/\/{2,}/g, "/")) },
  "Accept-Encoding dropped": {
    outgoing: withHeaders((headers) => without(headers, new Set(["accept-encoding"]))),
  },
  "body re-serialised": {
    answer: (answer) => (isJson(answer) ? withBody(answer, rewritten) : answer),
  },
  "body capped at 1 MiB": {
    answer: (answer) =>
      Number(answer.headers["content-length"] ?? 0) > MEBIBYTE
        ? withBody(answer, (body) => body.subarray(0, MEBIBYTE))
        : answer,
  },
  "cut body sent as whole": { answer: (answer) => withBody(answer, (body) => body, partsOf) },
  "everything buffered": { answer: (answer) => withBody(answer, (body) => body) },
  "upstream limited to 2 s": {
    transport: (transport) => ({ ...transport, upstreamTimeoutMs: 2_000 }),
  },
  "redirects followed": {
    answer: (answer, { upstream }) => {
      const { location } = answer.headers;
      if (location === undefined || !URL.canParse(location, upstream.url)) return answer;
      answer.resume();
      const { pathname, search } = new URL(location, upstream.url);
      return new Promise((resolve, reject) => {
        http.get(new URL(pathname + search, upstream.url), resolve).once("error", reject);
      });
    },
  },
  "status changed": {
    answer: (answer) => (answer.statusCode === 200 ? changed(answer, { statusCode: 201 }) : answer),
  },
  "Content-Encoding left after decoding": {
    answer: (answer) =>
      answer.headers["content-encoding"] === "gzip" ? withBody(answer, unzipped) : answer,
  },
  "mask taken from a nested string": {
    scan: (Real) =>
      class extends Real {
        #seen = false;
        override push(chunk: Buffer): void {
          this.#seen ||= /mask_sample\\?":\s*true/.test(chunk.toString("latin1"));
          super.push(chunk);
        }
        override *judge(): ReturnType<AnswerScan["judge"]> {
          const verdict = yield* super.judge();
          return verdict.verdict === "scored" && this.#seen ? ANY_MASK : verdict;
        }
      },
  },
  "masks not seen": {
    scan: (Real) =>
      class extends Real {
        override *judge(): ReturnType<AnswerScan["judge"]> {
          const verdict = yield* super.judge();
          return verdict.verdict === "masked" ? { verdict: "scored" } : verdict;
        }
      },
  },
  "verify path not decoded": {
    verifyPath: (target) =>
      target.split("?", 1)[0]!.endsWith("/verify") ? { rolloutId: undefined } : undefined,
  },
  "unknown fields end in an error": {
    outgoing: (outgoing) => {
      if (isKnown(outgoing)) return outgoing;
      throw new Error("a defect");
    },
  },
  "unknown fields get no answer": {
    answer: (answer, _, asked) => (isKnown(asked) ? answer : new Promise(() => undefined)),
  },
  "WebSocket extensions dropped": {
    upgrade: (request) => {
      const kept = without(request.rawHeaders, new Set(["sec-websocket-extensions"]));
      // Node makes these from the raw ones when they are first asked for, by a count that is no longer right.
      void request.headers;
      Object.defineProperty(request, "rawHeaders", { value: kept });
    },
  },
  "WebSocket close code dropped": {
    upgrade: (_, socket) => {
      rewriting(socket, (data) => (data[0] === CLOSE_FRAME ? Buffer.from([CLOSE_FRAME, 0]) : data));
    },
  },
  "WebSocket pings dropped": {
    upgrade: (_, socket) => {
      rewriting(socket, (data) => (data[0] === PING_FRAME ? undefined : data));
    },
  },
} satisfies Record<string, Mutant>;
