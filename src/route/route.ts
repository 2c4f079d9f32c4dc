/** What applies to the answers of one route: nothing, a look on the side, or the error for masked ones. */
export type Mode = "passthrough" | "observe" | "strict";

/** Who gets what: the client that matches it, and what is made of a masked answer. */
export interface Route {
  readonly name: string;
  readonly mode: Mode;
  /** The status of the error that stands for a masked answer. */
  readonly status: number;
}
