import { z } from "zod";
import { about } from "./about.js";
import { DEFAULTS } from "./default-values.js";
import { bytes, host, port } from "./scalar-schemas.js";

/** The listener for operators as it is written in the file. */
export const adminSchema = about(
  z.strictObject({
    host: host(DEFAULTS.adminHost).optional(),
    port: port(DEFAULTS.adminPort).optional(),
    token: about(
      z.string().regex(/^[\x21-\x7e]{8,}$/),
      "8 or more printable ASCII characters without spaces",
      {
        description:
          "What `Authorization: Bearer` must give for everything but /healthz, /readyz and the bare page. Better in MASKGATE_ADMIN_TOKEN.",
      },
    ).optional(),
  }),
  "a mapping of host, port and token",
  {
    description:
      "A listener for operators: /metrics, /healthz, /readyz, /status and a page. Off unless it is given.",
  },
);

/** When a route with many masked answers is called a storm, as it is written in the file. */
export const alertSchema = about(
  z.strictObject({
    maskedShare: about(z.number().gt(0).max(1), "a number above 0, up to 1", {
      description: "The masked share of a route's answers from which on it is a mask storm.",
      default: DEFAULTS.maskedShare,
    }).optional(),
    minAnswers: about(z.int().min(1).max(1_000_000), "a whole number from 1 to 1000000", {
      description: "How many answers the window must hold before a storm can begin.",
      default: DEFAULTS.minAnswers,
    }).optional(),
    windowMs: about(
      z.int().min(1000).max(86_400_000),
      "a whole number of milliseconds from 1000 to 86400000",
      { description: "How far back the window reaches.", default: DEFAULTS.windowMs },
    ).optional(),
    webhook: about(z.url({ protocol: /^https?$/ }), "an http:// or https:// URL", {
      description: "Where each beginning and end of a storm is posted as JSON.",
      examples: ["https://hooks.example.com/maskgate"],
    }).optional(),
  }),
  "a mapping of maskedShare, minAnswers, windowMs and webhook",
  { description: "When to warn of a mask storm. It never changes what clients get." },
);

/** The record of masked answers as it is written in the file. */
export const auditSchema = about(
  z.strictObject({
    file: about(z.string().min(1), "a path", {
      description: "The file that gets one JSON line for each masked answer.",
      examples: ["maskgate-audit.jsonl"],
    }),
    maxBytes: bytes(
      1024,
      "The size at which the file is renamed to FILE.1 and a new one begun.",
      DEFAULTS.auditMaxBytes,
    ).optional(),
    keep: about(z.int().min(0).max(1000), "a whole number from 0 to 1000", {
      description: "How many older files are kept: FILE.1 is the newest of them.",
      default: DEFAULTS.auditKeep,
    }).optional(),
  }),
  "a mapping of file, maxBytes and keep",
  { description: "One JSON line for each masked answer, in files of bounded size." },
);
