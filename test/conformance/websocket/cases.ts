import type { Ground } from "./ground.js";

/** Something that two ends of a WebSocket do, and what has to come of it. */
export interface Case {
  readonly run: (ground: Ground) => Promise<unknown>;
  readonly expected: unknown;
}

/** Cases by what happens in them. */
export type Cases = Readonly<Record<string, Case>>;
