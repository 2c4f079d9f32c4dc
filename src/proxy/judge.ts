import { AnswerScan, type Verdict } from "../mask/verdict.js";
import { ProxyError } from "../errors.js";
import type { RawHeaders } from "../http/headers.js";
import { reasonPhrase } from "../mask/reason.js";
import { logEvent } from "../observe/log.js";
import { type Decision, decide, needsKey } from "../route/decide.js";
import { rowKey, sessionOf, taskOf } from "../route/key.js";
import { decode } from "./decode.js";
import { drive } from "./drive.js";
import type { Exchange } from "./exchange.js";
import type { Chunks, Hold, HoldBudget } from "./hold.js";

/** A whole answer, as it came. */
export interface HeldAnswer {
  readonly chunks: Chunks;
  /** Has seen the chunks, unless they are encoded. */
  readonly scan: AnswerScan;
  readonly codings: readonly string[];
  readonly rawHeaders: RawHeaders;
}

/** What was found in an answer and what its route makes of it. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly decision: Decision;
  /** The plain bytes, and the scan that has seen them. */
  readonly chunks: Chunks;
  readonly scan: AnswerScan;
  /** Gives back what the plain bytes took beyond the held ones. */
  release(this: void): void;
}

/** The bounds that all answers share. */
export interface Bounds {
  readonly budget: HoldBudget;
  /** The largest answer that is held, as it came and unpacked, in bytes. */
  readonly maxAnswerBytes: number;
}

/**
 * Judges a whole answer.
 *
 * @throws {ProxyError} ANSWER_UNREADABLE, ANSWER_TOO_LARGE or HOLD_FAILED when nobody could check it.
 */
export async function judgeHeld(
  held: HeldAnswer,
  exchange: Exchange,
  bounds: Bounds,
): Promise<Judgement> {
  const plain = held.codings.length === 0 ? undefined : await unpack(held, exchange, bounds);
  const { chunks, scan } = plain ?? held;
  const release = (): void => plain?.chunks.release();
  try {
    const verdict = await drive(scan.judge(), chunks);
    if (verdict.verdict === "unknown" && verdict.why === "not-utf-8") {
      throw new ProxyError(
        "ANSWER_UNREADABLE",
        "the answer is JSON in UTF-16 or UTF-32, which maskgate does not read",
      );
    }
    const { route } = exchange;
    const wanted = verdict.verdict === "masked" && route.mode === "strict" && needsKey(route);
    const key = wanted ? await keyOf(exchange, held.rawHeaders, chunks, scan) : undefined;
    return { verdict, decision: decide(route, verdict, key), chunks, scan, release };
  } catch (error) {
    release();
    throw error;
  }
}

async function unpack(
  { chunks, codings }: HeldAnswer,
  exchange: Exchange,
  { budget, maxAnswerBytes }: Bounds,
): Promise<{ readonly chunks: Hold; readonly scan: AnswerScan }> {
  const plain = await decode(chunks, codings, budget, maxAnswerBytes);
  const scan = new AnswerScan({ signals: exchange.route.signals });
  for (let index = 0; index < plain.count; index++) scan.push(await plain.chunk(index));
  return { chunks: plain, scan };
}

async function keyOf(
  exchange: Exchange,
  answerHeaders: RawHeaders,
  chunks: Chunks,
  scan: AnswerScan,
): Promise<string | undefined> {
  if (exchange.route.ramp.by === "session") return sessionOf(answerHeaders);
  const task = taskOf(exchange.verify?.rolloutId ?? "");
  if (task !== undefined) return task;
  const row = await drive(scan.find(["responses_create_params"]), chunks);
  return row === undefined ? undefined : rowKey(await drive(scan.bytes(row), chunks));
}

/** One info line for a masked answer, whatever became of it; any other is told of by the line of its request. */
export function logVerdict(
  exchange: Exchange,
  verdict: Verdict,
  decision: Decision,
  status = 200,
): void {
  const { log } = exchange;
  exchange.verdict = verdict.verdict;
  if (verdict.verdict !== "masked") return;
  const phrase = reasonPhrase(verdict.kind, verdict.reason);
  const fields = exchange.fields({
    status,
    kind: verdict.kind.slice(0, 100),
    signal: verdict.signal,
  });
  if (decision.decision === "translate") {
    const { translation } = exchange.route;
    logEvent(log, "info", "translated", { ...fields, translation }, phrase);
  } else {
    const { because } = decision;
    logEvent(
      log,
      "info",
      "let_through",
      { ...fields, because },
      `${phrase} (let through: ${because})`,
    );
  }
}

/** An answer on an observe route that nobody could check: it went by as it was. */
export function logUnread(exchange: Exchange, error: unknown): void {
  const { code, message } = asProxyError(error);
  logEvent(exchange.log, "warn", "uninspectable", exchange.fields({ code }), message);
}

/** The error as one of maskgate's own; what nobody foresaw is INTERNAL. */
export function asProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error;
  return new ProxyError("INTERNAL", "maskgate could not judge this answer", { cause: error });
}
