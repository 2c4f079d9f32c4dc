import { z } from "zod";

/** What a value may be, in the words of a problem; kept beside the schemas, so that it stays out of the JSON schema. */
export const ALLOWED = z.registry<{ allowed: string }>();

/** What an editor shows for a value. */
export interface About {
  readonly description: string;
  readonly default?: unknown;
  readonly examples?: unknown[];
  readonly format?: "regex";
}

/** The schema with its description for editors and the words that problems use for what is allowed. */
export function about<S extends z.ZodType>(schema: S, allowed: string, meta: About): S {
  const described = schema.meta({ ...meta });
  ALLOWED.add(described, { allowed });
  return described;
}
