import type { ErrorCode } from "../errors.js";
import type { Mode, Route } from "../route/route.js";
import { kindLabel } from "./kinds.js";
import type { Finding } from "./passage.js";

/** How many answers of one sort there were; every member but the count is a metric's label. */
export interface AnswerCount {
  readonly verdict: "masked" | "scored" | "unknown" | "uninspectable";
  readonly signal: string;
  readonly kind: string;
  readonly decision: "translate" | "pass" | "refuse";
  /** Why a masked answer was let through. */
  readonly because: string;
  count: number;
}

const NOTHING = { signal: "", kind: "", because: "", count: 0 } as const;

/** What happened on one route since the start, in plain numbers: metrics, status and page read them, nothing is computed while requests pass. */
export class RouteTally {
  readonly name: string;
  readonly mode: Mode;
  readonly scored: AnswerCount = { ...NOTHING, verdict: "scored", decision: "pass" };
  readonly unknown: AnswerCount = { ...NOTHING, verdict: "unknown", decision: "pass" };
  readonly #refused: AnswerCount = { ...NOTHING, verdict: "uninspectable", decision: "refuse" };
  readonly #unread: AnswerCount = { ...NOTHING, verdict: "uninspectable", decision: "pass" };
  readonly #masked = new Map<string, AnswerCount>();
  /** Requests that were served, by status. */
  readonly statuses = new Map<number, number>();
  /** Failures of the way to the upstream and answers that nobody could check, by code. */
  readonly errors = new Map<ErrorCode, number>();
  /** Requests whose client left before it had everything. */
  aborted = 0;

  constructor({ name, mode }: Pick<Route, "name" | "mode">) {
    this.name = name;
    this.mode = mode;
  }

  /** Every sort of answer that has come, or may come in this mode whatever the answers say. */
  get sorts(): AnswerCount[] {
    if (this.mode === "passthrough") return [];
    const unchecked = this.mode === "strict" ? this.#refused : this.#unread;
    return [this.scored, this.unknown, unchecked, ...this.#masked.values()];
  }

  /** Every sort of answer that has come. */
  get answers(): AnswerCount[] {
    return this.sorts.filter(({ count }) => count > 0);
  }

  judged({ verdict, decision }: Finding): void {
    if (verdict.verdict !== "masked") {
      this[verdict.verdict].count += 1;
      return;
    }
    const kind = kindLabel(verdict.kind);
    const because = decision.decision === "pass" ? decision.because : "";
    const key = `${verdict.signal}\n${kind}\n${because}`;
    let sort = this.#masked.get(key);
    if (sort === undefined) {
      const { signal } = verdict;
      sort = { verdict: "masked", signal, kind, decision: decision.decision, because, count: 0 };
      this.#masked.set(key, sort);
    }
    sort.count += 1;
  }

  /** An answer that nobody could check: a strict client got an error instead, another one the answer. */
  unread(): void {
    (this.mode === "strict" ? this.#refused : this.#unread).count += 1;
  }

  failed(code: ErrorCode): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  /** @param status - undefined when the client left. */
  ended(status: number | undefined): void {
    if (status === undefined) this.aborted += 1;
    else this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
