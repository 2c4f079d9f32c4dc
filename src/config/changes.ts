import type { Config, Listen } from "./config.js";
import { isSecret, NOT_SHOWN } from "./secrets.js";

/** What can be changed while requests are in flight; anything else needs a restart. */
const LIVE = /^(?:listen|routes|verifyPaths)\b/;

/** One difference between two configurations. */
export interface Change {
  /** Where: `routes.verifiers.ramp.percentage`. */
  readonly path: string;
  readonly from: string;
  readonly to: string;
  readonly needsRestart: boolean;
}

/** Every difference, in the order of the paths; routes are compared by name, and their order as one value. */
export function changesBetween(from: Config, to: Config): Change[] {
  const before = flatten(from);
  const after = flatten(to);
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return paths
    .map((path) => ({
      path,
      from: before.get(path) ?? NOTHING,
      to: after.get(path) ?? NOTHING,
      needsRestart: !LIVE.test(path),
    }))
    .filter((change) => change.from !== change.to)
    .map((change) => (isSecret(lastOf(change.path)) ? hidden(change) : change));
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

function hidden({ from, to, ...change }: Change): Change {
  const hide = (value: string): string => (value === NOTHING ? NOTHING : NOT_SHOWN);
  return { ...change, from: hide(from), to: hide(to) };
}

const NOTHING = "nothing";

function flatten(config: Config): Map<string, string> {
  const { routes, listen, upstream, ...rest } = config;
  const flat = new Map<string, string>();
  add(flat, "", rest);
  flat.set("upstream", upstream.url);
  flat.set("listen", listen.map(listenText).join(", "));
  flat.set("routes", routes.map(({ name }) => name).join(", "));
  for (const route of routes) add(flat, `routes.${route.name}`, route);
  return flat;
}

function listenText({ host, port, tls }: Listen): string {
  return `${host}:${port}${tls === undefined ? "" : ` with TLS (${tls.cert}, ${tls.key})`}`;
}

function add(flat: Map<string, string>, path: string, value: unknown): void {
  if (value === undefined) return;
  if (value instanceof RegExp) {
    flat.set(path, value.source);
    return;
  }
  if (typeof value !== "object" || value === null) {
    flat.set(path, typeof value === "string" ? value : JSON.stringify(value));
    return;
  }
  const members = value instanceof Map ? [...value.entries()] : Object.entries(value);
  for (const [name, member] of members)
    add(flat, path === "" ? `${name}` : `${path}.${name}`, member);
}
