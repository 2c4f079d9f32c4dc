import { z } from "zod";
import { LOG_LEVELS } from "./config.js";
import { about } from "./about.js";
import { DEFAULTS } from "./default-values.js";
import { routeSchema } from "./route-schema.js";
import { bytes, host, milliseconds, port } from "./scalar-schemas.js";
import { adminSchema, alertSchema, auditSchema } from "./watch-schema.js";

/** More are a slip of the finger. */
const MOST_WORKERS = 256;

const pemFile = (description: string): z.ZodString =>
  about(z.string().min(1), "a path", { description });

const tls = about(
  z.strictObject({
    cert: pemFile("The certificate and those that lead to its authority, in PEM form."),
    key: pemFile("The certificate's key, in PEM form."),
  }),
  "cert and key, each a path",
  { description: "Clients speak TLS there. Both files are read again when they change." },
);

const endpoint = about(
  z.strictObject({
    host: host(DEFAULTS.host).optional(),
    port: port(DEFAULTS.port).optional(),
    tls: tls.optional(),
  }),
  "host, port and tls",
  { description: "An address and a port to listen on." },
);

const listen = about(
  z.union([endpoint, z.array(endpoint).min(1)]),
  "{host, port, tls} or a list of them",
  { description: "Where clients come in: one address and port, or a list of them." },
);

const verifyPaths = about(
  z
    .array(
      about(
        z.string().regex(/^\/[^?#%\s]*$/),
        "a path that begins with a slash, decoded, without ?, # and spaces",
        { description: "A path whose answers carry a reward." },
      ),
    )
    .min(1),
  "a list of one path or more",
  {
    description:
      "The paths whose answers carry a reward; each also counts behind /ng-rollout/<id>.",
    default: DEFAULTS.verifyPaths,
  },
);

/** The configuration file. Everything may be left out; what it gives is strict. */
export const fileSchema = about(
  z.strictObject({
    upstream: about(z.string(), "http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock", {
      description:
        "The Gym-compatible server: http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock.",
      examples: ["http://127.0.0.1:9100"],
    }).optional(),
    upstreamCa: pemFile(
      "The authorities that an https upstream's certificate may come from, in PEM form; no others count then.",
    ).optional(),
    listen: listen.optional(),
    verifyPaths: verifyPaths.optional(),
    connectRetryMs: milliseconds(
      "How long a request that meets a closed port is tried again (never GET and HEAD).",
      DEFAULTS.connectRetryMs,
    ).optional(),
    upstreamTimeoutMs: milliseconds(
      "How long the upstream may take until its header is there; 0 is for ever.",
      DEFAULTS.upstreamTimeoutMs,
    ).optional(),
    maxAnswerBytes: bytes(
      1,
      "The largest answer that is held to be judged; a larger one is a 502 on a strict route.",
      DEFAULTS.maxAnswerBytes,
    ).optional(),
    holdMemoryBytes: bytes(
      0,
      "How much of all held answers together stays in memory; the rest goes to temporary files.",
      DEFAULTS.holdMemoryBytes,
    ).optional(),
    drainMs: milliseconds(
      "How long requests in flight may take after the first SIGTERM or SIGINT.",
      DEFAULTS.drainMs,
    ).optional(),
    logLevel: about(z.enum(LOG_LEVELS), LOG_LEVELS.join(", "), {
      description: "How much to log.",
      default: DEFAULTS.logLevel,
    }).optional(),
    workers: about(z.int().min(1).max(MOST_WORKERS), `a whole number from 1 to ${MOST_WORKERS}`, {
      description: "How many processes serve clients, a core for each; they share every limit.",
      default: DEFAULTS.workers,
    }).optional(),
    admin: adminSchema.optional(),
    alert: alertSchema.optional(),
    audit: auditSchema.optional(),
    routes: about(z.array(routeSchema), "a list of routes", {
      description: "In written order, the first match wins; what none matches is passthrough.",
    }).optional(),
  }),
  "a mapping",
  { description: "The configuration of maskgate." },
);

/** The schemas of the values that flags and variables can give too. */
export const SCALARS = {
  upstream: fileSchema.shape.upstream,
  upstreamCa: fileSchema.shape.upstreamCa,
  host: endpoint.shape.host,
  port: endpoint.shape.port,
  connectRetryMs: fileSchema.shape.connectRetryMs,
  upstreamTimeoutMs: fileSchema.shape.upstreamTimeoutMs,
  maxAnswerBytes: fileSchema.shape.maxAnswerBytes,
  holdMemoryBytes: fileSchema.shape.holdMemoryBytes,
  drainMs: fileSchema.shape.drainMs,
  logLevel: fileSchema.shape.logLevel,
  workers: fileSchema.shape.workers,
  adminHost: adminSchema.shape.host,
  adminPort: adminSchema.shape.port,
  adminToken: adminSchema.shape.token,
} as const;

/** The file's content once it has been checked. */
export type FileConfig = z.infer<typeof fileSchema>;

/** The same as it is written. */
export type FileInput = z.input<typeof fileSchema>;

/** The JSON schema of the file, for editors: what config/maskgate.schema.json holds. */
export function configJsonSchema(): object {
  // yaml-language-server reads draft 7 best.
  return z.toJSONSchema(fileSchema, { io: "input", target: "draft-7" });
}
