import { z } from "zod";
import { about } from "./about.js";
import { DEFAULTS } from "./default-values.js";
import { patternFault } from "./patterns.js";

function pattern(description: string, examples: string[]): z.ZodString {
  const schema = z
    .string()
    .min(1)
    .check(({ value, issues }) => {
      const fault = patternFault(value);
      if (fault === undefined) return;
      issues.push({ code: "custom", input: value, message: `does not compile (${fault})` });
    });
  return about(schema, "a JavaScript regular expression", {
    description,
    examples,
    format: "regex",
  });
}

/** RFC 9110 §5.6.2: what a field name is made of. */
const fieldName = about(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/), "a header name", {
  description: "The header's name; case does not matter.",
});

const wanted = about(
  z.union([
    about(
      z.string().regex(/^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/),
      "printable ASCII without spaces around it",
      { description: "The value, exactly." },
    ),
    about(
      z.strictObject({
        matches: pattern("A pattern that must match the whole value.", ["canary-.*"]),
      }),
      "{matches: PATTERN}",
      { description: "A pattern instead of one value." },
    ),
  ]),
  "a text or {matches: PATTERN}",
  { description: "The value that the header must have; a header that was sent twice has none." },
);

/** The conditions of a route as they are written in the file. */
export const matchSchema = about(
  z.strictObject({
    port: about(z.int().min(1).max(65_535), "a whole number from 1 to 65535", {
      description: "The listening port that the client came in by.",
    }).optional(),
    pathPrefix: about(
      z.string().regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\x21-\x22\x24\x26-\x2e\x30-\x3e\x40-\x7e]+)+$/),
      "segments such as /verifiers or /a/b: a slash before each, none at the end, without ?, #, %, spaces, . and .. segments",
      {
        description:
          "How the path begins, up to a border of segments. It is cut off before the request goes on: resources_url = http://HOST:PORT/verifiers.",
        examples: ["/verifiers"],
      },
    ).optional(),
    header: about(
      z.record(fieldName, wanted).refine((table) => Object.keys(table).length > 0, "empty"),
      "a mapping of header names to values",
      { description: "Headers that must be there, with their values." },
    ).optional(),
    userAgent: pattern("A pattern that must match the whole User-Agent.", [
      "python-httpx/.*",
    ]).optional(),
  }),
  "a mapping of port, pathPrefix, header and userAgent",
  { description: "Which requests the route takes: all conditions must hold; none takes them all." },
);

const ramp = about(
  z.strictObject({
    percentage: about(
      z
        .number()
        .min(0)
        .max(100)
        .refine((value) => Math.round(value * 100) / 100 === value, "finer than one bucket"),
      "a number from 0 to 100 in steps of 0.01",
      {
        description: "The share of keys that are translated: 0 is nobody, 100 everybody.",
        default: DEFAULTS.percentage,
      },
    ).optional(),
    by: about(z.enum(["task", "session"]), "task or session", {
      description: "What is decided on as one: a task with all its samples, or a Gym session.",
      default: DEFAULTS.by,
    }).optional(),
    salt: about(z.string().min(1), "a text", {
      description: "Routes with the same salt pick the same keys. Default: the route's name.",
    }).optional(),
  }),
  "a mapping of percentage, by and salt",
  { description: "How far strictness is switched on." },
);

const glob = about(
  z.string().regex(/^[^()[\]{}|^$+\\\s]+$/),
  "a kind, with * for any text and ? for any one character",
  { description: "A failure kind; * is any text, ? any one character." },
);

const signal = about(
  z.strictObject({
    member: about(z.string().min(1), "the name of a top-level member", {
      description: "A top-level member of the answer, which must be a string.",
      examples: ["failure_reason"],
    }),
    matches: pattern("A pattern looked for anywhere in the member's text.", ["session not found"]),
  }),
  "{member, matches}",
  { description: "A sign of a masked answer that only this server gives." },
);

/** One route as it is written in the file. */
export const routeSchema = about(
  z.strictObject({
    name: about(
      z
        .string()
        .max(100)
        .regex(/^[^\p{C}\s](?:[^\p{C}]*[^\p{C}\s])?$/u),
      "a text of at most 100 characters on one line",
      { description: "What logs and metrics call the route." },
    ),
    match: matchSchema.optional(),
    mode: about(
      z.enum(["passthrough", "observe", "strict"]),
      "passthrough (streamed, never inspected), observe (streamed, counted and logged) or strict (masked answers become the error)",
      {
        description:
          "passthrough: streamed, never inspected; observe: streamed, masked answers counted and logged; strict: a masked answer becomes the error.",
      },
    ),
    translation: about(
      z.union([z.enum(["error", "null", "mirror", "nan"]), z.null()]),
      "error, null, mirror or nan",
      {
        description:
          "What a masked answer becomes: error (503 with the reason), null (reward: null), mirror (instance_config.mask_sample: true, for NeMo RL) or nan (reward: NaN).",
        default: DEFAULTS.translation,
      },
    ).optional(),
    status: about(z.int().min(400).max(599), "a whole number from 400 to 599", {
      description: "The status of the error; another one where a mesh repeats 503 by itself.",
      default: DEFAULTS.status,
    }).optional(),
    ramp: ramp.optional(),
    only: about(z.array(glob).min(1), "a list of one kind or more", {
      description: "Kinds that alone are translated. Default: all.",
    }).optional(),
    except: about(z.array(glob), "a list of kinds", {
      description: "Kinds that are never translated.",
    }).optional(),
    signals: about(z.array(signal), "a list of {member, matches}", {
      description: "Further signs of a masked answer.",
    }).optional(),
  }),
  "a mapping with name and mode",
  { description: "Who gets what." },
);

/** A route of the file once it has been checked. */
export type FileRoute = z.infer<typeof routeSchema>;

/** The conditions of a route of the file once they have been checked. */
export type FileMatch = z.infer<typeof matchSchema>;
