import type { FileMatch } from "./route-schema.js";
import { matchingWhole } from "./patterns.js";

/** One condition on a header: this text, or a pattern that matches it whole. */
type FieldWanted = string | { readonly matches: string };

/** Whether every request that fulfils `later` fulfils `earlier` too. False where that cannot be told from the conditions alone. */
export function takesAllOf(
  earlier: FileMatch,
  later: FileMatch,
  ports: ReadonlySet<number>,
): boolean {
  return (
    portHolds(earlier.port, later.port, ports) &&
    prefixHolds(earlier.pathPrefix, later.pathPrefix) &&
    fieldsOf(earlier).every(([name, wanted]) =>
      fieldsOf(later).some(([other, given]) => other === name && impliedBy(wanted, given)),
    )
  );
}

function portHolds(
  wanted: number | undefined,
  given: number | undefined,
  ports: ReadonlySet<number>,
): boolean {
  if (wanted === undefined || wanted === given) return true;
  return given === undefined && ports.size === 1 && ports.has(wanted);
}

function prefixHolds(wanted: string | undefined, given: string | undefined): boolean {
  if (wanted === undefined) return true;
  return given === wanted || given?.startsWith(`${wanted}/`) === true;
}

/** The user agent is a header like any other. */
function fieldsOf({ header = {}, userAgent }: FileMatch): [string, FieldWanted][] {
  const fields = Object.entries(header).map(([name, wanted]): [string, FieldWanted] => [
    name.toLowerCase(),
    wanted,
  ]);
  return userAgent === undefined ? fields : [...fields, ["user-agent", { matches: userAgent }]];
}

function impliedBy(wanted: FieldWanted, given: FieldWanted): boolean {
  if (typeof wanted === "string") return given === wanted;
  if (wanted.matches === ".*") return true;
  if (typeof given !== "string") return given.matches === wanted.matches;
  return matchingWhole(wanted.matches).test(given);
}
