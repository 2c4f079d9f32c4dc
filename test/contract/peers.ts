import { inject } from "vitest";
import type { Recipe, Venv } from "./venv.js";

/** What a contract test can ask for. */
export type Capability = "verifiers" | "nemo-gym";

/** What the set-up made for the tests: each peer's environment, or one sentence on why there is none. */
export type Peers = Record<Capability, Venv | { readonly missing: string }>;

/** The peer of each capability. Another version is another entry here and another file in `requirements/`. */
export const RECIPES: Record<Capability, Recipe> = {
  verifiers: { name: "verifiers-0.4.0", prepare: "prepare_harness.py" },
  "nemo-gym": { name: "nemo-gym-0.7.0", bare: ["nemo-gym==0.7.0"], prepare: "check_gym.py" },
};

declare module "vitest" {
  interface ProvidedContext {
    peers: Peers;
  }
}

/** Whether the set-up could not make all of these peers; the tests that need them are then skipped. */
export function lacks(...capabilities: Capability[]): boolean {
  return capabilities.some((capability) => "missing" in inject("peers")[capability]);
}

/** The environment of a peer. Throws the set-up's sentence when there is none. */
export function peer(capability: Capability): Venv {
  const found = inject("peers")[capability];
  if ("missing" in found) throw new Error(found.missing);
  return found;
}
