import { pino } from "pino";
import { defaultConfig } from "./config/defaults.js";
import { parseUpstream } from "./config/upstream.js";
import type { Logger } from "./observe/log.js";
import { type Gate, openGate } from "./proxy/gate.js";

export { type ErrorCode, ProxyError } from "./errors.js";
export { detectMask, type Verdict } from "./mask/verdict.js";
export type { Gate } from "./proxy/gate.js";

export interface MaskgateOptions {
  /** The Gym-compatible server: `http://HOST:PORT`, `https://HOST:PORT` or `unix:/PATH/TO.sock`. */
  readonly upstream: string;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 0: the system chooses one. */
  readonly port?: number;
  /** Whether a masked answer becomes HTTP 503 with the reason. Default false: nothing is changed. */
  readonly maskedAsError?: boolean;
  /** How long a request that meets a closed port is tried again, in milliseconds (never GET and HEAD). Default 30,000. */
  readonly connectRetryMs?: number;
  /** How long the upstream may take until its header is there, in milliseconds. Default 0: for ever. */
  readonly upstreamTimeoutMs?: number;
  /** The largest answer that is held to be judged, in bytes; a larger one is a 502. Default 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** How much of all held answers together stays in memory, in bytes; the rest goes to temporary files. Default 256 MiB. */
  readonly holdMemoryBytes?: number;
  /** Default: silent. */
  readonly logger?: Logger;
}

/**
 * A proxy that runs in this process and listens already.
 *
 * @throws {ProxyError} CONFIG_INVALID for an upstream that is no such URL, LISTEN_FAILED when the port cannot be had.
 */
export async function createMaskgate(options: MaskgateOptions): Promise<Gate> {
  const mode = options.maskedAsError === true ? "strict" : "passthrough";
  const { upstream, logger = pino({ level: "silent" }), host = "127.0.0.1", port = 0 } = options;
  const { maskedAsError: _mode, upstream: _text, logger: _logger, ...limits } = options;
  const config = defaultConfig(parseUpstream(upstream), mode);
  return openGate({ ...config, ...limits, listen: [{ host, port }] }, logger);
}
