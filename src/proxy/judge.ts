import { AnswerScan, type Verdict } from "../mask/verdict.js";
import { ProxyError } from "../errors.js";
import type { RawHeaders } from "../http/headers.js";
import { unreadableCharset, unreadableText } from "../http/unreadable.js";
import { reasonPhrase } from "../mask/reason.js";
import { logEvent } from "../observe/log.js";
import type { Finding } from "../observe/passage.js";
import { decide, needsKey } from "../route/decide.js";
import { sessionOf, sessionTag, startRowKey, taskOf } from "../route/key.js";
import { decode } from "./decode.js";
import { drive } from "./drive.js";
import type { Exchange } from "./exchange.js";
import type { Chunks, Hold, HoldBudget } from "./hold.js";
import type { Turn } from "./turn.js";

/** A whole answer, as it came. */
export interface HeldAnswer {
  readonly chunks: Chunks;
  /** Has seen the chunks as they came. */
  readonly scan: AnswerScan;
  readonly codings: readonly string[];
  readonly rawHeaders: RawHeaders;
}

/** What was found in an answer and what its route makes of it. */
export interface Judgement extends Finding {
  /** The plain bytes, and the scan that has seen them. */
  readonly chunks: Chunks;
  readonly scan: AnswerScan;
  /** Gives back what the plain bytes took beyond the held ones. */
  release(this: void): void;
}

/** The bounds that all answers share. */
export interface Bounds {
  readonly budget: HoldBudget;
  readonly turn: Turn;
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
  const charset = unreadableCharset(held.rawHeaders);
  if (charset !== undefined) throw new ProxyError("ANSWER_UNREADABLE", charset);
  const plain = held.codings.length === 0 ? undefined : await unpack(held, exchange, bounds);
  const { chunks, scan } = plain ?? held;
  const release = (): void => plain?.chunks.release();
  try {
    const verdict = await drive(scan.judge(), chunks);
    if (plain !== undefined && verdict.verdict !== "masked") await expectNoMaskAsItCame(held);
    const unreadable = unreadableText(verdict);
    if (unreadable !== undefined) throw new ProxyError("ANSWER_UNREADABLE", unreadable);
    const { task, session } = await idsOf(exchange, verdict, held.rawHeaders, chunks, scan);
    const { route } = exchange;
    const decision = decide(route, verdict, route.ramp.by === "session" ? session : task);
    const told = session === undefined ? undefined : sessionTag(session);
    return { verdict, decision, task, session: told, chunks, scan, release };
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
  const { chunks: plain, firstFrame } = await decode(chunks, codings, budget, maxAnswerBytes);
  const scanOf = async (size: number): Promise<AnswerScan> => {
    const scan = new AnswerScan({ signals: exchange.route.signals });
    await drive(pushFirst(size, scan), plain);
    return scan;
  };
  try {
    const scan = await scanOf(plain.size);
    if (firstFrame !== undefined) await expectAgreement(await scanOf(firstFrame), scan, plain);
    return { chunks: plain, scan };
  } catch (error) {
    plain.release();
    throw error;
  }
}

function* pushFirst(size: number, scan: AnswerScan): Generator<number, void, Buffer> {
  for (let index = 0, left = size; left > 0; index++) {
    const chunk = yield index;
    scan.push(chunk.subarray(0, left));
    left -= chunk.length;
  }
}

/** Some clients read the first frame alone (httpx 0.28.1, `_decoders.py`: gzip), others read all of them (aiohttp, urllib3). */
async function expectAgreement(first: AnswerScan, all: AnswerScan, plain: Chunks): Promise<void> {
  const [one, whole] = [await drive(first.judge(), plain), await drive(all.judge(), plain)];
  if (one.verdict === "unknown") return;
  if ((one.verdict === "masked") === (whole.verdict === "masked")) return;
  throw new ProxyError(
    "ANSWER_UNREADABLE",
    "only the first frame of the answer or only all of them say that it is masked, and clients differ in how many they read",
  );
}

/** aiohttp (3.14.5) unpacks nothing where `Content-Encoding` is a list, and JSON can be written whose bytes are deflate data as well. */
async function expectNoMaskAsItCame({ scan, chunks }: HeldAnswer): Promise<void> {
  if ((await drive(scan.judge(), chunks)).verdict !== "masked") return;
  throw new ProxyError(
    "ANSWER_UNREADABLE",
    "the answer says that it is masked, but not once it is unpacked, and clients differ in whether they unpack it",
  );
}

/** Which task and which session a masked answer belongs to, as far as the ramp or the monitor asks. */
async function idsOf(
  exchange: Exchange,
  verdict: Verdict,
  answerHeaders: RawHeaders,
  chunks: Chunks,
  scan: AnswerScan,
): Promise<{ readonly task?: string | undefined; readonly session?: string | undefined }> {
  if (verdict.verdict !== "masked") return NO_IDS;
  const { route, monitor } = exchange;
  const asked = route.mode === "strict" && needsKey(route) ? route.ramp.by : undefined;
  const all = monitor.wantsIds;
  return {
    task: all || asked === "task" ? await taskKey(exchange, chunks, scan) : undefined,
    session: all || asked === "session" ? sessionOf(answerHeaders) : undefined,
  };
}

const NO_IDS = {};

async function taskKey(
  exchange: Exchange,
  chunks: Chunks,
  scan: AnswerScan,
): Promise<string | undefined> {
  const task = taskOf(exchange.verify?.rolloutId ?? "");
  if (task !== undefined) return task;
  const row = await drive(scan.find(["responses_create_params"]), chunks);
  if (row === undefined) return undefined;
  const { add, key } = startRowKey();
  await drive(scan.visit(row, add), chunks);
  return key();
}

/** Counts the verdict. A masked answer gets one info line, whatever became of it; any other is told of by the line of its request. */
export function tellVerdict(exchange: Exchange, finding: Finding, status = 200): void {
  const { log } = exchange;
  const { verdict, decision } = finding;
  exchange.verdict = verdict.verdict;
  exchange.monitor.judged(exchange, finding, status);
  if (verdict.verdict !== "masked" || !log.isLevelEnabled("info")) return;
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
  exchange.monitor.failed(exchange, code);
  logEvent(exchange.log, "warn", "uninspectable", exchange.fields({ code }), message);
}

/** The error as one of maskgate's own; what nobody foresaw is INTERNAL. */
export function asProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error;
  return new ProxyError("INTERNAL", "maskgate could not judge this answer", { cause: error });
}
