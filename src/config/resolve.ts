import {
  type ChosenUpstream,
  chooseListen,
  chooseUpstream,
  isOwnAddress,
  listenConflicts,
  listenIn,
} from "./addresses.js";
import type { Config, Listen } from "./config.js";
import { routeConflicts } from "./conflicts.js";
import { DEFAULTS } from "./default-values.js";
import { defaultRoute } from "./defaults.js";
import { readDocument } from "./document.js";
import { deepFreeze } from "./freeze.js";
import { problemsWith } from "./issues.js";
import { foundText, own, type Problem } from "./problems.js";
import { toRoute } from "./routes.js";
import { fileSchema } from "./schema.js";
import { type Environment, type Flags, readSettings, type Settings } from "./settings.js";
import { adminConflict, chooseAdmin, toAlert, toAudit } from "./watching.js";

/** What gave each value: `argument`, `--port`, `MASKGATE_PORT`, `maskgate.yaml line 3`, `default`. */
export type Sources = Readonly<Record<keyof Config, string>>;

/** A configuration that was checked, and where it came from. */
export interface Loaded {
  /** Frozen all the way down. */
  readonly config: Config;
  readonly sources: Sources;
  /** The file that was read, if any: the one to watch. */
  readonly file: string | undefined;
}

/** Where a configuration comes from; the earlier wins: flags, environment, file, defaults. */
export interface ConfigInput {
  readonly flags?: Flags;
  /** Only names that begin with `MASKGATE_` count. */
  readonly env?: Environment;
  /** Default: what `MASKGATE_CONFIG` names, else none. */
  readonly file?: string | undefined;
}

/** A file's name and its content. */
export interface FileText {
  readonly name: string;
  readonly text: string;
}

/** What flags, environment and the file's content make together, or every problem at once. Total: throws for nothing. */
export function resolveConfig(
  { flags = {}, env = {} }: ConfigInput,
  file: FileText | undefined,
): Loaded | { readonly problems: readonly Problem[] } {
  const settings = readSettings(flags, env);
  const document = file && readDocument(file.text, file.name);
  const place = (...keys: PropertyKey[]): string =>
    `${file?.name ?? ""} line ${document?.lineOf(keys) ?? 1}`;
  const written = document === undefined ? {} : document.value;
  const routes = own(written, "routes");
  const listen = chooseListen(settings, own(written, "listen"), place("listen"));
  const upstream = chooseUpstream(settings, own(written, "upstream"), place("upstream"));

  const checked = fileSchema.safeParse(written);
  const inFile = [
    ...(written === undefined ? [] : problemsWith(fileSchema, written)),
    ...listenConflicts(listenIn(own(written, "listen"))),
    ...routeConflicts(routes, listen.value),
  ].map(({ keys, ...problem }) => ({ ...problem, place: place(...keys) }));
  const problems: Problem[] = [
    ...(document?.problems ?? []),
    ...inFile,
    ...upstream.problems,
    ...settings.problems,
    ...upstreamProblem(upstream, listen.value, written),
    ...(routes === undefined ? [] : maskedProblem(settings, place("routes"))),
    ...adminConflict(settings, own(written, "admin"), listen.value, place("admin")),
  ];
  if (problems.length > 0 || upstream.address === undefined || !checked.success) {
    return { problems };
  }

  const { data } = checked;
  const admin = chooseAdmin(settings, data.admin, place("admin"));
  const sources: Record<string, string> = {
    upstream: upstream.source,
    listen: listen.source,
    admin: admin.source,
  };
  const pick = <K extends Plain>(key: K): Config[K] => {
    const given = settings.values[key];
    sources[key] = given?.source ?? (data[key] === undefined ? "default" : place(key));
    return (given?.value ?? data[key] ?? DEFAULTS[key]) as Config[K];
  };
  const ca = settings.values.upstreamCa;
  sources["upstreamCa"] =
    ca?.source ?? (data.upstreamCa === undefined ? "default" : place("upstreamCa"));
  const { maskedAsError } = settings;
  sources["routes"] = routes === undefined ? maskedAsError.source : place("routes");
  const config: Config = {
    upstream: upstream.address,
    upstreamCa: ca?.value ?? data.upstreamCa,
    listen: listen.value,
    routes: maskedAsError.value ? [defaultRoute("strict")] : (data.routes ?? []).map(toRoute),
    verifyPaths: data.verifyPaths ?? DEFAULTS.verifyPaths,
    connectRetryMs: pick("connectRetryMs"),
    upstreamTimeoutMs: pick("upstreamTimeoutMs"),
    maxAnswerBytes: pick("maxAnswerBytes"),
    holdMemoryBytes: pick("holdMemoryBytes"),
    drainMs: pick("drainMs"),
    logLevel: pick("logLevel"),
    workers: pick("workers"),
    admin: admin.value,
    alert: toAlert(data.alert),
    audit: toAudit(data.audit),
  };
  for (const key of ["verifyPaths", "alert", "audit"] as const) {
    sources[key] = data[key] === undefined ? "default" : place(key);
  }
  return {
    config: deepFreeze(config),
    sources: Object.freeze(sources) as Sources,
    file: file?.name,
  };
}

type Plain = keyof Config & keyof typeof DEFAULTS & keyof Settings["values"];

function upstreamProblem(
  { address, source, problems }: ChosenUpstream,
  listen: readonly Listen[],
  written: unknown,
): Problem[] {
  if (address === undefined) {
    const isMapping = typeof written === "object" && !Array.isArray(written);
    const known = problems.length > 0 || !isMapping || own(written, "upstream") !== undefined;
    if (known) return [];
    return [
      {
        path: "upstream",
        wrong: "missing",
        allowed: "http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock",
        hint: "give it as the argument, as MASKGATE_UPSTREAM or as upstream in the file",
      },
    ];
  }
  if (!isOwnAddress(address, listen)) return [];
  const wrong = "maskgate's own listening address, so that every request would go in a circle";
  return [{ path: "upstream", wrong, found: foundText(address.url), place: source }];
}

function maskedProblem({ maskedAsError }: Settings, place: string): Problem[] {
  if (!maskedAsError.value) return [];
  const wrong = "cannot go together with routes in the file";
  return [{ path: maskedAsError.source, wrong, hint: "set the mode in the routes", place }];
}
