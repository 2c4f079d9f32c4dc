import type { Mode, Route } from "../route/route.js";
import type { Config } from "./config.js";
import type { UpstreamAddress } from "./upstream.js";

/** What applies where nothing else was said: one route for everybody, on a port of the system's choice. */
export function defaultConfig(upstream: UpstreamAddress, mode: Mode): Config {
  return {
    upstream,
    listen: [{ host: "127.0.0.1", port: 0 }],
    routes: [defaultRoute(mode)],
    verifyPaths: ["/verify"],
    connectRetryMs: 30_000,
    upstreamTimeoutMs: 0,
    maxAnswerBytes: 256 * 1024 * 1024,
    holdMemoryBytes: 256 * 1024 * 1024,
    drainMs: 600_000,
    logLevel: "info",
  };
}

/** The one route that takes everybody. */
export function defaultRoute(mode: Mode): Route {
  return {
    name: "default",
    match: {},
    mode,
    translation: "error",
    status: 503,
    ramp: { percentage: 100, by: "task", salt: "default" },
    only: undefined,
    except: [],
    signals: [],
  };
}
