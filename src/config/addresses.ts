import { ProxyError } from "../errors.js";
import type { Listen } from "./config.js";
import { DEFAULTS } from "./default-values.js";
import { foundText, pathText, type LocatedProblem, type Problem } from "./problems.js";
import { fileSchema } from "./schema.js";
import type { Settings } from "./settings.js";
import { parseUpstream, type UpstreamAddress } from "./upstream.js";

/** The addresses to listen on and what gave them; an empty list where the file's are not valid. */
export function chooseListen(
  { values: { host, port } }: Settings,
  written: unknown,
  place: string,
): { readonly value: readonly Listen[]; readonly source: string } {
  if (host !== undefined || port !== undefined) {
    return {
      value: [{ host: host?.value ?? DEFAULTS.host, port: port?.value ?? DEFAULTS.port }],
      source: [host, port].flatMap((given) => given?.source ?? []).join(", "),
    };
  }
  if (written === undefined) {
    return { value: [{ host: DEFAULTS.host, port: DEFAULTS.port }], source: "default" };
  }
  return { value: listenIn(written), source: place };
}

/** What the file's `listen` stands for; an empty list where it is not valid. */
export function listenIn(written: unknown): Listen[] {
  const { data } = fileSchema.shape.listen.safeParse(written);
  if (data === undefined) return [];
  const entries = Array.isArray(data) ? data : [data];
  return entries.map(({ host = DEFAULTS.host, port = DEFAULTS.port, tls }) => ({
    host,
    port,
    ...(tls === undefined ? {} : { tls }),
  }));
}

/** The addresses of a list that cannot be listened on together. */
export function listenConflicts(listen: readonly Listen[]): LocatedProblem[] {
  return listen.flatMap((later, i) => {
    const j = listen.findIndex((earlier, k) => k < i && collide(earlier, later));
    if (j === -1) return [];
    const keys = ["listen", i, "port"];
    return {
      keys,
      path: pathText(keys),
      wrong: "a port that is listened on twice",
      found: foundText(later.port),
      allowed: "each port once",
      hint: `listen[${j}] has it already`,
    };
  });
}

/** The upstream, or why there is none. */
export interface ChosenUpstream {
  readonly address: UpstreamAddress | undefined;
  readonly source: string;
  readonly problems: readonly Problem[];
}

/** The upstream of argument, variable or file, each of them checked; `place` is where the file has it. */
export function chooseUpstream(
  { values }: Settings,
  written: unknown,
  place: string,
): ChosenUpstream {
  const given = values.upstream;
  const texts = [
    ...(given === undefined
      ? []
      : [
          {
            text: given.value,
            path: given.source === "argument" ? "upstream" : given.source,
            source: given.source,
          },
        ]),
    ...(typeof written === "string"
      ? [{ text: written, path: "upstream", source: place, place }]
      : []),
  ];
  const problems: Problem[] = [];
  let chosen: { address: UpstreamAddress; source: string } | undefined;
  for (const { text, source, ...where } of texts) {
    const read = readUpstream(text);
    if ("wrong" in read) problems.push({ ...where, wrong: read.wrong });
    else chosen ??= { address: read, source };
  }
  return { address: chosen?.address, source: chosen?.source ?? "default", problems };
}

function readUpstream(text: string): UpstreamAddress | { readonly wrong: string } {
  try {
    return parseUpstream(text);
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    return { wrong: error.message.replace(/^upstream: /, "") };
  }
}

/** Whether `upstream` is one of our own listening addresses, which would send every request round and round. */
export function isOwnAddress({ connect }: UpstreamAddress, listen: readonly Listen[]): boolean {
  if (!("port" in connect)) return false;
  return listen.some(({ host, port }) => {
    if (port !== connect.port) return false;
    return (
      host === connect.host || (isLoopback(connect.host) && (isLoopback(host) || isWildcard(host)))
    );
  });
}

/** Whether two addresses cannot be listened on at once. */
export function collide(a: Listen, b: Listen): boolean {
  if (a.port === 0 || a.port !== b.port) return false;
  return a.host === b.host || !(isOneAddress(a.host) && isOneAddress(b.host));
}

/** Not a name, which may stand for several addresses, nor a wildcard, which stands for all. */
function isOneAddress(host: string): boolean {
  return /^[\d.]+$|:/.test(host) && !isWildcard(host);
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || /^[0:]+$/.test(host);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
