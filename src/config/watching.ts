import { collide } from "./addresses.js";
import type { Admin, Alert, Audit, Listen } from "./config.js";
import { DEFAULTS } from "./default-values.js";
import { foundText, own, type Problem } from "./problems.js";
import type { FileConfig } from "./schema.js";
import type { Settings } from "./settings.js";

/** The listener for operators and what asked for it; none where nothing did. */
export function chooseAdmin(
  { values: { adminHost, adminPort, adminToken } }: Settings,
  written: FileConfig["admin"],
  place: string,
): { readonly value: Admin | undefined; readonly source: string } {
  const given = [adminHost, adminPort].flatMap((setting) => setting?.source ?? []);
  // A token alone asks for no listener: it may be set for all containers of a cluster.
  if (given.length === 0 && written === undefined) return { value: undefined, source: "default" };
  return {
    value: {
      host: adminHost?.value ?? written?.host ?? DEFAULTS.adminHost,
      port: adminPort?.value ?? written?.port ?? DEFAULTS.adminPort,
      token: adminToken?.value ?? written?.token,
    },
    source: [...given, ...(written === undefined ? [] : [place])].join(", "),
  };
}

/** When a storm is called one, with every default filled in. */
export function toAlert(written: FileConfig["alert"] = {}): Alert {
  return {
    maskedShare: written.maskedShare ?? DEFAULTS.maskedShare,
    minAnswers: written.minAnswers ?? DEFAULTS.minAnswers,
    windowMs: written.windowMs ?? DEFAULTS.windowMs,
    webhook: written.webhook,
  };
}

/** The record of masked answers with every default filled in; none where the file asks for none. */
export function toAudit(written: FileConfig["audit"]): Audit | undefined {
  if (written === undefined) return undefined;
  return {
    file: written.file,
    maxBytes: written.maxBytes ?? DEFAULTS.auditMaxBytes,
    keep: written.keep ?? DEFAULTS.auditKeep,
  };
}

/** An operators' port that clients come in by: clients would meet the wrong server. Total over any `written`. */
export function adminConflict(
  { values: { adminHost, adminPort } }: Settings,
  written: unknown,
  listen: readonly Listen[],
  place: string,
): Problem[] {
  if (adminHost === undefined && adminPort === undefined && written === undefined) return [];
  const port = adminPort?.value ?? own(written, "port") ?? DEFAULTS.adminPort;
  const host = adminHost?.value ?? own(written, "host") ?? DEFAULTS.adminHost;
  if (typeof port !== "number" || typeof host !== "string") return [];
  if (!listen.some((clients) => collide({ host, port }, clients))) return [];
  return [
    {
      path: adminPort?.source ?? "admin.port",
      wrong: "a port that clients come in by",
      found: foundText(port),
      allowed: "a port of its own",
      place: adminPort === undefined && written !== undefined ? place : undefined,
    },
  ];
}
