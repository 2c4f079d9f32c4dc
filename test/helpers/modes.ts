import { type Proxy, startConfigured } from "./proxy.js";

/** The three modes of a route. */
export const MODES = ["passthrough", "observe", "strict"] as const;

/** What a route does with a verify answer. */
export type RouteMode = (typeof MODES)[number];

/** A proxy whose one route is in this mode; `more` is YAML beside the routes. */
export async function startInMode(
  mode: RouteMode,
  upstream: string | { readonly url: string },
  more = "",
): Promise<Proxy> {
  return startConfigured(upstream, `routes: [{name: all, mode: ${mode}}]\n${more}\n`);
}
