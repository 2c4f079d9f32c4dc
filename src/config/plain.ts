import type { Match, Route, Wanted } from "../route/route.js";
import type { Config } from "./config.js";
import { globOf, searchedPattern, wholePattern } from "./patterns.js";
import type { FileMatch, FileRoute } from "./route-schema.js";
import type { FileConfig } from "./schema.js";

/** The configuration in the form of the file, with every default written out: reading it again gives the same one. */
export function plainConfig({ upstream, routes, ...rest }: Config): FileConfig {
  const { listen, verifyPaths, ...scalars } = rest;
  return {
    upstream: upstream.url,
    listen: listen.map((endpoint) => ({ ...endpoint })),
    verifyPaths: [...verifyPaths],
    ...scalars,
    routes: routes.map(plainRoute),
  };
}

/** The same configuration for showing: values of headers that open doors are hidden. */
export function withoutSecrets(config: Config): Config {
  const hide = (route: Route): Route => {
    const { header, ...match } = route.match;
    if (header === undefined) return route;
    const shown = [...header].map(([name, wanted]): [string, Wanted] => [
      name,
      SECRET.test(name) ? "(not shown)" : wanted,
    ]);
    return { ...route, match: { ...match, header: new Map(shown) } };
  };
  return { ...config, routes: config.routes.map(hide) };
}

const SECRET = /authorization|cookie|token|key|secret|password/;

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
