import type { Config } from "../config/config.js";
import type { ErrorCode } from "../errors.js";
import type { Finding, Passage, WatchedRoute } from "../observe/passage.js";
import type { LiveConfig } from "../proxy/gate.js";

/** What the first process tells a worker to do. */
export type Order =
  | { readonly type: "start"; readonly slot: number; readonly config: Config }
  | { readonly type: "prepare"; readonly live: LiveConfig }
  | { readonly type: "apply" | "drop" | "report" | "measure" | "drain" | "close" };

/** An order, with the number under which it is answered. */
export interface NumberedOrder {
  readonly id: number;
  readonly order: Order;
}

/** What a worker says: that it listens to orders, what it saw, and how it carried out an order. */
export type Word =
  | { readonly type: "up" }
  | ({ readonly type: "report" } & Report)
  | { readonly type: "done"; readonly id: number; readonly value: unknown }
  | { readonly type: "failed"; readonly id: number; readonly error: Failed };

export interface Failed {
  readonly code: ErrorCode;
  readonly message: string;
}

/** What happened in a worker since its last report. */
export interface Report {
  readonly seen: readonly Sighting[];
  /** Lines of its log. */
  readonly lines: readonly string[];
  readonly load: Load;
}

/** How much a worker carries. */
export interface Load {
  readonly inFlight: number;
  readonly heldBytes: number;
  /** Since its start. */
  readonly spilledBytes: number;
}

type RouteKey = Pick<WatchedRoute, "name" | "mode">;

/** One call of a worker's `Witness`, as little of it as the counts need. */
export type Sighting =
  | readonly ["scored" | "unknown", RouteKey]
  | readonly ["masked", MaskedPassage, Finding, status: number]
  | readonly ["failed", RouteKey, ErrorCode, verify: boolean]
  | readonly ["ended", RouteKey, status: number | undefined, upstreamMs: number, totalMs: number];

/** The request of a masked answer, without what a record does not show. */
export type MaskedPassage = Omit<Passage, "elapsedMs"> & { readonly totalMs: number };
