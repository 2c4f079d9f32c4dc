import type { Match, Route, Wanted } from "../route/route.js";
import type { Config } from "./config.js";
import { globOf, searchedPattern, wholePattern } from "./patterns.js";
import type { FileMatch, FileRoute } from "./route-schema.js";
import type { FileConfig } from "./schema.js";
import { isSecret, NOT_SHOWN } from "./secrets.js";

/** The configuration in the form of the file, with every default written out: reading it again gives the same one. */
export function plainConfig({ upstream, routes, ...rest }: Config): FileConfig {
  const { listen, verifyPaths, admin, alert, audit, upstreamCa, ...scalars } = rest;
  return {
    upstream: upstream.url,
    ...(upstreamCa === undefined ? {} : { upstreamCa }),
    listen: listen.map((endpoint) => ({ ...endpoint })),
    verifyPaths: [...verifyPaths],
    ...scalars,
    ...(admin === undefined ? {} : { admin: given(admin) }),
    alert: given(alert),
    ...(audit === undefined ? {} : { audit: { ...audit } }),
    routes: routes.map(plainRoute),
  };
}

/** Only what has a value. */
function given<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof given<T>>;
}

/** The same configuration for showing: what opens doors is hidden, such as tokens in headers and in the webhook's path. */
export function withoutSecrets(config: Config): Config {
  const hide = (route: Route): Route => {
    const { header, ...match } = route.match;
    if (header === undefined) return route;
    const shown = [...header].map(([name, wanted]): [string, Wanted] => [
      name,
      isSecret(name) ? NOT_SHOWN : wanted,
    ]);
    return { ...route, match: { ...match, header: new Map(shown) } };
  };
  const { admin, alert } = config;
  return {
    ...config,
    routes: config.routes.map(hide),
    admin: admin?.token === undefined ? admin : { ...admin, token: NOT_SHOWN },
    alert:
      alert.webhook === undefined
        ? alert
        : { ...alert, webhook: `${new URL(alert.webhook).origin}/${NOT_SHOWN}` },
  };
}

/** One route in the form of the file; what has no effect in its mode is left out. */
export function plainRoute(route: Route): FileRoute {
  const { name, mode, translation, status, ramp, only, except, signals } = route;
  const head = { name, match: plainMatch(route.match), mode };
  if (mode === "passthrough") return head;
  return {
    ...head,
    translation,
    ...(translation === "error" ? { status } : {}),
    ramp: { ...ramp },
    ...(only === undefined ? {} : { only: only.map(globOf) }),
    except: except.map(globOf),
    signals: signals.map(({ member, matches }) => ({ member, matches: searchedPattern(matches) })),
  };
}

function plainMatch({ header, userAgent, ...rest }: Match): FileMatch {
  return {
    ...rest,
    ...(header === undefined
      ? {}
      : {
          header: Object.fromEntries(
            [...header].map(([name, wanted]) => [
              name,
              typeof wanted === "string" ? wanted : { matches: wholePattern(wanted) },
            ]),
          ),
        }),
    ...(userAgent === undefined ? {} : { userAgent: wholePattern(userAgent) }),
  };
}
