import { failureReply, maskedReply, type Reply, splicedHeaders } from "../http/reply.js";
import type { RawHeaders } from "../http/headers.js";
import { unreadableCharset, unreadableText } from "../http/unreadable.js";
import { BUILT_IN_SIGNALS } from "../mask/signals.js";
import { planSplice, spliceChunk } from "../mask/splice.js";
import { AnswerScan, type Verdict } from "../mask/verdict.js";
import { bucketOf } from "../route/bucket.js";
import { decide } from "../route/decide.js";
import { rowKey, sessionOf, taskOf } from "../route/key.js";
import { matchRoute } from "../route/match.js";
import { cutPrefix, hasPrefix } from "../route/prefix.js";
import type { Route } from "../route/route.js";
import { verifyPath } from "../route/verify-path.js";
import type { Given } from "./given.js";

/** Where the member stands that masks the answer: bytes `start` to before `end` are its value. */
export interface Place {
  readonly member: string;
  readonly start: number;
  readonly end: number;
  /** The value, cut. */
  readonly text: string;
}

/** A reply that maskgate makes itself. */
export interface MadeReply {
  readonly status: number;
  readonly phrase: string;
  readonly headers: RawHeaders;
  readonly body: string;
}

/** What one route does with the answer. */
export interface RouteEffect {
  readonly route: string;
  readonly mode: Route["mode"];
  /** Whether the recorded request takes this route; undefined where there is none. */
  readonly taken: boolean | undefined;
  readonly verdict: Verdict["verdict"] | "not looked at";
  /** The first signal that holds on this route, which may have signals of its own. */
  readonly signal: string | undefined;
  readonly decision: "translate" | "pass" | "refuse";
  /** Why it is passed on, or refused. */
  readonly because: string | undefined;
  /** The key that the ramp goes by and its bucket of 10,000, where the ramp decides. */
  readonly key: string | undefined;
  readonly bucket: number | undefined;
  /** What the client gets instead of the answer. */
  readonly reply: MadeReply | undefined;
}

/** Everything there is to say about one answer. */
export interface Explanation {
  readonly bytes: number;
  /** By the built-in signals, whatever the routes say. */
  readonly verdict: Verdict;
  /** One for each signal that holds, the first that holds first. */
  readonly places: readonly Place[];
  readonly routes: readonly RouteEffect[];
}

const SHOWN = 80;

/** Says what an answer is and what each of these routes would do with it. */
export function explain(
  given: Given,
  routes: readonly Route[],
  verifyPaths: readonly string[],
): Explanation {
  const { verdict, scan } = judge(given, []);
  const taken = given.request && takenBy(given.request, routes);
  return {
    bytes: given.body.length,
    verdict,
    places: placesOf(given, verdict, scan),
    routes: routes.map((route) => ({
      ...effectOf(given, route, verifyPaths),
      taken: taken && taken(route),
    })),
  };
}

function judge(
  { body }: Given,
  signals: Route["signals"],
): { readonly verdict: Verdict; readonly scan: AnswerScan } {
  const scan = new AnswerScan({ signals });
  scan.push(body);
  return { verdict: read(scan.judge(), body), scan };
}

/** Runs a scan over an answer that is one chunk. */
function read<T>(steps: Generator<number, T, Buffer>, body: Buffer): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next(body);
  return step.value;
}

function placesOf({ body }: Given, verdict: Verdict, scan: AnswerScan): Place[] {
  if (verdict.verdict !== "masked") return [];
  return verdict.signals.flatMap((signal) => {
    const path = BUILT_IN_SIGNALS.find(({ name }) => name === signal)?.path ?? [signal];
    const range = read(scan.find(path), body);
    if (range === undefined) return [];
    const text = body.toString("utf8", range.start, Math.min(range.end, range.start + SHOWN));
    return { member: signal, start: range.start, end: range.end, text };
  });
}

function takenBy(
  { target, headers }: NonNullable<Given["request"]>,
  routes: readonly Route[],
): (route: Route) => boolean {
  // The port is not recorded: a route that asks for one is judged by its other conditions.
  const first = routes.find((route) =>
    matchRoute([route], { port: route.match.port ?? 0, target, headers }),
  );
  return ({ name }) => name === first?.name;
}

function effectOf(
  given: Given,
  route: Route,
  verifyPaths: readonly string[],
): Omit<RouteEffect, "taken"> {
  const none = { signal: undefined, key: undefined, bucket: undefined, reply: undefined };
  const head = { route: route.name, mode: route.mode, ...none };
  const overlooked = whyOverlooked(given, route, verifyPaths);
  if (overlooked !== undefined) {
    return { ...head, verdict: "not looked at", decision: "pass", because: overlooked };
  }
  const { verdict, scan } = judge(given, route.signals);
  const unreadable = unreadableCharset(given.headers) ?? unreadableText(verdict);
  if (unreadable !== undefined && route.mode === "strict") {
    const reply = madeOf(failureReply("ANSWER_UNREADABLE", unreadable));
    return { ...head, verdict: "unknown", decision: "refuse", because: unreadable, reply };
  }
  if (verdict.verdict !== "masked") {
    const because = verdict.verdict === "unknown" ? verdict.why : "not masked";
    return { ...head, verdict: verdict.verdict, decision: "pass", because };
  }
  const key = keyOf(given, route, scan);
  const decision = decide(route, verdict, key);
  const ramped = route.mode === "strict" && route.ramp.percentage < 100;
  const shared = {
    ...head,
    verdict: verdict.verdict,
    signal: verdict.signal,
    decision: decision.decision,
    key: ramped ? key : undefined,
    bucket: ramped && key !== undefined ? bucketOf(route.ramp.salt, key) : undefined,
  };
  if (decision.decision === "pass") return { ...shared, because: decision.because };
  return { ...shared, because: undefined, reply: replyOf(given, route, verdict, scan) };
}

function whyOverlooked(
  { status, request }: Given,
  { mode, match }: Route,
  verifyPaths: readonly string[],
): string | undefined {
  if (mode === "passthrough") return "route is passthrough";
  if (status !== 200) return `only a 200 is looked at, and this is a ${status}`;
  if (request === undefined) return undefined;
  const { method, target } = request;
  const { pathPrefix } = match;
  const inside =
    pathPrefix !== undefined && hasPrefix(target, pathPrefix)
      ? cutPrefix(target, pathPrefix)
      : target;
  const isVerify = method === "POST" && verifyPath(inside, verifyPaths) !== undefined;
  return isVerify ? undefined : `${method} ${target} is no verify request`;
}

function keyOf(
  { body, headers, request }: Given,
  route: Route,
  scan: AnswerScan,
): string | undefined {
  if (route.ramp.by === "session") return sessionOf(headers);
  const task = taskOf(verifyPath(request?.target ?? "")?.rolloutId ?? "");
  if (task !== undefined) return task;
  const row = read(scan.find(["responses_create_params"]), body);
  return row && rowKey(body.subarray(row.start, row.end));
}

function replyOf(
  { body, headers, status, phrase }: Given,
  route: Route,
  verdict: Extract<Verdict, { verdict: "masked" }>,
  scan: AnswerScan,
): MadeReply {
  const { translation } = route;
  if (translation === "error") {
    return madeOf(maskedReply(verdict, headers, route.status));
  }
  const splice = read(planSplice(scan, translation), body);
  const made = Buffer.concat(spliceChunk(body, 0, splice));
  return { status, phrase, headers: splicedHeaders(headers, made.length), body: made.toString() };
}

function madeOf(reply: Reply): MadeReply {
  return { ...reply, body: reply.body.toString() };
}
