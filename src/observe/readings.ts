import type { Config } from "../config/config.js";
import type { ProcessMetrics } from "./process-metrics.js";

/** What a proxy says of itself whenever it is asked. */
export interface Readings {
  readonly version: string;
  readonly startedAt: Date;
  readonly upstream: string;
  readonly alert: Config["alert"];
  /** The most that held answers take of memory, in bytes. */
  readonly holdMemoryBytes: number;
  routes(): Config["routes"];
  inFlight(): number;
  /** What held answers take of memory now, in bytes. */
  heldBytes(): number;
  /** What went to temporary files since the start, in bytes. */
  spilledBytes(): number;
  isDraining(): boolean;
  /** Brings these readings and the counts up to date, where other processes have them. */
  fresh?(): Promise<void>;
  /** The metrics of each process, where there are several. */
  processes?(this: void): Promise<ProcessMetrics[]>;
}
