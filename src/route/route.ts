import type { CustomSignal } from "../mask/signals.js";

/** What applies to the answers of one route: nothing, a look on the side, or the error for masked ones. */
export type Mode = "passthrough" | "observe" | "strict";

/** What a strict route makes of a masked answer (docs/OPERATIONS.md says which client needs which). */
export type Translation = "error" | "null" | "mirror" | "nan";

/** A text a header must have: this one exactly, or one that the pattern matches. Patterns come anchored at both ends from the configuration. */
export type Wanted = string | RegExp;

/** Which requests a route takes; everything given must hold, and nothing given takes them all. */
export interface Match {
  readonly port?: number;
  /** Begins with a slash and does not end with one; cut off before forwarding, at a segment border. */
  readonly pathPrefix?: string;
  /** By lower-case name. A header that was sent twice matches nothing. */
  readonly header?: ReadonlyMap<string, Wanted>;
  readonly userAgent?: RegExp;
}

/** How far strictness is switched on. */
export interface Ramp {
  /** From 0 (nobody) to 100 (everybody), in steps of 0.01. */
  readonly percentage: number;
  readonly by: "task" | "session";
  readonly salt: string;
}

/** Who gets what: the client that matches it, and what is made of a masked answer. */
export interface Route {
  readonly name: string;
  readonly match: Match;
  readonly mode: Mode;
  readonly translation: Translation;
  /** The status of the error that stands for a masked answer. */
  readonly status: number;
  readonly ramp: Ramp;
  /** Kinds that alone are translated; undefined is all. Patterns are anchored at both ends. */
  readonly only: readonly RegExp[] | undefined;
  /** Kinds that are never translated. */
  readonly except: readonly RegExp[];
  /** Further signals of this route's own server. */
  readonly signals: readonly CustomSignal[];
}
