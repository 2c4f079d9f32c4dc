import type { Match, Route } from "../route/route.js";
import { DEFAULTS } from "./default-values.js";
import { globbing, matchingWhole, searching } from "./patterns.js";
import type { FileMatch, FileRoute } from "./route-schema.js";

/** The route that a checked entry of the file stands for, with every default filled in. */
export function toRoute(entry: FileRoute): Route {
  const { name, mode, ramp = {} } = entry;
  return {
    name,
    match: toMatch(entry.match ?? {}),
    mode,
    translation: entry.translation === null ? "null" : (entry.translation ?? DEFAULTS.translation),
    status: entry.status ?? DEFAULTS.status,
    ramp: {
      percentage: ramp.percentage ?? DEFAULTS.percentage,
      by: ramp.by ?? DEFAULTS.by,
      salt: ramp.salt ?? name,
    },
    only: entry.only?.map(globbing),
    except: (entry.except ?? []).map(globbing),
    signals: (entry.signals ?? []).map(({ member, matches }) => ({
      member,
      matches: searching(matches),
    })),
  };
}

function toMatch({ port, pathPrefix, header, userAgent }: FileMatch): Match {
  return {
    ...(port === undefined ? {} : { port }),
    ...(pathPrefix === undefined ? {} : { pathPrefix }),
    ...(header === undefined
      ? {}
      : {
          header: new Map(
            Object.entries(header).map(([name, wanted]) => [
              name.toLowerCase(),
              typeof wanted === "string" ? wanted : matchingWhole(wanted.matches),
            ]),
          ),
        }),
    ...(userAgent === undefined ? {} : { userAgent: matchingWhole(userAgent) }),
  };
}
