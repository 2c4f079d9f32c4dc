import { vi } from "vitest";

/** Resolves when this throws no more. Far longer than vitest's own second, which may pass on a busy machine before anything happens. */
export async function eventually<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 20_000 });
}
