import { foundText } from "./problems.js";

/** What stands for a secret. */
export const NOT_SHOWN = "(not shown)";

/** Whether what has this name, a key of the configuration or a header, is nobody else's business. */
export function isSecret(name: string): boolean {
  return /authorization|cookie|token|key|secret|password|webhook/i.test(name);
}

/** What stands below these keys, as it may stand in a problem: those go to the log, and a token with a typing error is nearly the token. */
export function foundAt(keys: readonly PropertyKey[], value: unknown): string | undefined {
  const found = foundText(value);
  const isText = typeof value !== "object" && found !== undefined;
  return isText && keys.some((key) => isSecret(String(key))) ? NOT_SHOWN : found;
}
