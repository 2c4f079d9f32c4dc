import http from "node:http";
import { gunzipSync } from "node:zlib";
import { bodyOf } from "../../soak/stub.mjs";
import type { Cut } from "./faults.js";

/** What the stub is asked for; all but the event stream are longer than any limit of a fault. */
export const KINDS = [
  ...["scored", "scored-gzip", "scored-chunks", "scored-large"],
  ...["masked", "masked-gzip", "masked-chunks", "masked-large"],
  ...["tool", "seed", "own-503"],
] as const;

/** The mode of maskgate's route, or nothing in between. */
export type Way = "direct" | "passthrough" | "observe" | "strict";

/** What came of one request. */
export interface Outcome {
  /** 0 where no header came. */
  readonly status: number;
  readonly verdict: string | undefined;
  /** Whole, as the framing says, or cut. */
  readonly whole: boolean;
  /** Whole, and as the stub wrote it. */
  readonly same: boolean;
}

const PATHS: Readonly<Record<string, string>> = { tool: "/get_weather", seed: "/seed_session" };

function plainText(body: Buffer, packed: boolean): string | undefined {
  try {
    return (packed ? gunzipSync(body) : body).toString();
  } catch {
    return undefined;
  }
}

/** Posts 3 kB on a connection of its own, for an answer of this kind. */
export function ask(url: string, kind: string, id: string): Promise<Outcome> {
  const size = kind.endsWith("-large") ? 1_500_000 : 12_000;
  const target = `${PATHS[kind] ?? "/verify"}?kind=${kind}&size=${size}&id=${id}`;
  return new Promise((resolve) => {
    const request = http.request(url + target, { method: "POST", agent: false });
    request.on("error", () => {
      resolve({ status: 0, verdict: undefined, whole: false, same: false });
    });
    request.on("response", (reply) => {
      const parts: Buffer[] = [];
      const status = reply.statusCode ?? 0;
      const verdict = reply.headers["maskgate-verdict"] as string | undefined;
      reply.on("data", (part: Buffer) => parts.push(part));
      reply.on("error", () => resolve({ status, verdict, whole: false, same: false }));
      reply.on("end", () => {
        const packed = reply.headers["content-encoding"] === "gzip";
        const text = plainText(Buffer.concat(parts), packed);
        resolve({ status, verdict, whole: true, same: text === bodyOf(kind, size, id) });
      });
    });
    request.end(`{"responses_create_params":{"input":"${"x".repeat(3_000)}"}}`);
  });
}

/** `passed`, where this is what has to come; otherwise what came. */
export function judge(way: Way, kind: string, cut: Cut, outcome: Outcome): string {
  const { status, verdict, whole, same } = outcome;
  const came = `${way}: ${JSON.stringify(outcome)}`;
  const isVerify = PATHS[kind] === undefined && kind !== "own-503";
  if (way !== "direct" && cut === "before its header is whole") {
    return status === 502 && verdict === "upstream-error" && whole ? "passed" : came;
  }
  if (way === "strict" && isVerify && cut === "in its body") {
    return status === 502 && verdict === "upstream-error" && whole ? "passed" : came;
  }
  if (cut !== "nowhere") return whole ? came : "passed";
  if (way === "strict" && kind.startsWith("masked")) {
    return status === 503 && verdict === "masked" ? "passed" : came;
  }
  const own = kind === "own-503" ? 503 : 200;
  return status === own && verdict === undefined && same ? "passed" : came;
}
