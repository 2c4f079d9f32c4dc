import type { IncomingMessage } from "node:http";
import type { Config } from "../config/config.js";
import { logEvent, type Logger, loggedPath } from "../observe/log.js";
import type { Match, Route } from "../route/route.js";
import { verifyPath } from "../route/verify-path.js";

/** Looks at the method and the path of a request that no route took, and at nothing else of it. */
export type UnmatchedWatch = (
  live: Pick<Config, "routes" | "verifyPaths">,
  request: Pick<IncomingMessage, "method" | "url">,
) => void;

/**
 * One warning under each set of routes when a verify request takes none of them although some are looked at: most likely its client was given the
 * address without the prefix, and nothing else would tell, because masked answers pass as they are.
 */
export function warnOfUnmatched(log: Logger): UnmatchedWatch {
  let told: readonly Route[] | undefined;
  return ({ routes, verifyPaths }, { method, url = "/" }) => {
    if (told === routes || method !== "POST" || verifyPath(url, verifyPaths) === undefined) return;
    told = routes;
    const looked = routes.filter(({ mode }) => mode !== "passthrough");
    if (looked.length === 0) return;
    const path = loggedPath(url);
    const wanted = looked.map(({ name, mode, match }) => ({
      route: name,
      mode,
      match: said(match),
    }));
    const list = wanted.map(({ route, match }) => `${route} (${match})`).join(", ");
    const says = `POST ${path} took no route, so a masked answer to it passes as a score; was it meant for ${list}? A passthrough route without a match says that it was not`;
    logEvent(log, "warn", "verify_unmatched", { path, routes: wanted }, says);
  };
}

/** Header values may be secrets: only their names are said. */
function said({ port, pathPrefix, header, userAgent }: Match): string {
  return [
    ...(port === undefined ? [] : [`port ${port}`]),
    ...(pathPrefix === undefined ? [] : [`path ${pathPrefix}/…`]),
    ...[...(header?.keys() ?? [])].map((name) => `header ${name}`),
    ...(userAgent === undefined ? [] : [`user agent ${userAgent.source}`]),
  ].join(" and ");
}
