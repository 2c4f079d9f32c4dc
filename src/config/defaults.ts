import type { Mode, Route } from "../route/route.js";
import { DEFAULTS } from "./default-values.js";

/** The one route that takes everybody. */
export function defaultRoute(mode: Mode): Route {
  return {
    name: "default",
    match: {},
    mode,
    translation: DEFAULTS.translation,
    status: DEFAULTS.status,
    ramp: { percentage: DEFAULTS.percentage, by: DEFAULTS.by, salt: "default" },
    only: undefined,
    except: [],
    signals: [],
  };
}
