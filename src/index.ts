import { pino } from "pino";
import { invalid } from "./config/load.js";
import { resolveConfig } from "./config/resolve.js";
import type { FileInput } from "./config/schema.js";
import type { Logger } from "./observe/log.js";
import { type Gate, openGate } from "./proxy/gate.js";

export { type ErrorCode, ProxyError } from "./errors.js";
export { detectMask, type Verdict } from "./mask/verdict.js";
export type { Gate } from "./proxy/gate.js";

/** What the configuration file may hold, under the same names, and a few things that only a program needs. */
export interface MaskgateOptions extends Omit<FileInput, "workers"> {
  readonly upstream: string;
  /** Default `127.0.0.1`; stands for `listen` together with `port`. */
  readonly host?: string;
  /** Default 0: the system chooses one. */
  readonly port?: number;
  /** One strict route for everybody instead of `routes`. Default false: nothing is changed. */
  readonly maskedAsError?: boolean;
  /** Default: silent. */
  readonly logger?: Logger;
}

/**
 * A proxy that runs in this process and listens already.
 *
 * @throws {ProxyError} CONFIG_INVALID with every problem in its message, one a line; LISTEN_FAILED when a port cannot be had.
 */
export async function createMaskgate(options: MaskgateOptions): Promise<Gate> {
  const { logger = pino({ level: "silent" }), maskedAsError, host, port, ...file } = options;
  const listen = file.listen ?? { host: host ?? "127.0.0.1", port: port ?? 0 };
  const text = JSON.stringify({ ...file, listen });
  const resolved = resolveConfig({ flags: { maskedAsError } }, { name: "options", text });
  if ("problems" in resolved) throw invalid(resolved.problems);
  return openGate(resolved.config, logger);
}
