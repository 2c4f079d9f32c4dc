import { inject } from "vitest";
import type { Recipe, Venv } from "./venv.js";

/** What a test can ask for: a peer by its role, or an older release of it by its version. */
export type Capability =
  | "verifiers"
  | "verifiers-0.3.1"
  | "verifiers-managed"
  | "nemo-gym"
  | "nemo-gym-0.4.0"
  | "nemo-gym-0.5.1"
  | "nemo-gym-0.6.0"
  | "agentenv"
  | "trl"
  | "trl-1.5.1";

/** What the set-up made for the tests: each peer's environment, or one sentence on why there is none. */
export type Peers = Partial<Record<Capability, Venv | { readonly missing: string }>>;

const olderGym = (version: string, ...more: string[]): Recipe => ({
  name: `nemo-gym-${version}`,
  requirements: "nemo-gym-0.7.0",
  bare: [`nemo-gym==${version}`, ...more],
  prepare: "check_older_gym.py",
});

/** The peer of each capability. Another version is another entry here. */
export const RECIPES: Record<Capability, Recipe> = {
  verifiers: { name: "verifiers-0.4.0", prepare: "prepare_harness.py" },
  "verifiers-0.3.1": { name: "verifiers-0.3.1", prepare: "prepare_harness_0_3.py" },
  // Its managed server asks for Python 3.12 or 3.13.
  "verifiers-managed": {
    name: "verifiers-managed",
    requirements: "verifiers-0.4.0",
    oldest: 12,
    prepare: "prepare_managed.py",
  },
  "nemo-gym": { name: "nemo-gym-0.7.0", bare: ["nemo-gym==0.7.0"], prepare: "check_gym.py" },
  "nemo-gym-0.4.0": olderGym("0.4.0", "gprof2dot==2025.4.14"),
  "nemo-gym-0.5.1": olderGym("0.5.1"),
  "nemo-gym-0.6.0": olderGym("0.6.0"),
  agentenv: { name: "agentenv", bare: ["agentenv-framework"], prepare: "check_agentenv.py" },
  trl: { name: "trl-1.16.0", prepare: "check_trl.py" },
  // The last release that counts None.
  "trl-1.5.1": {
    name: "trl-1.5.1",
    requirements: "trl-1.16.0",
    bare: ["trl==1.5.1"],
    prepare: "check_trl.py",
  },
};

/** What the tests of each Vitest project need. */
export const NEEDS: Readonly<Record<string, readonly Capability[]>> = {
  contract: ["verifiers", "nemo-gym"],
  matrix: [
    "verifiers",
    "verifiers-0.3.1",
    "verifiers-managed",
    "nemo-gym",
    "nemo-gym-0.4.0",
    "nemo-gym-0.5.1",
    "nemo-gym-0.6.0",
    "agentenv",
  ],
  trl: ["nemo-gym", "trl", "trl-1.5.1"],
};

declare module "vitest" {
  interface ProvidedContext {
    peers: Peers;
    /** Where tests write what they saw of docs/CLIENTS.md, and whether the page is to be written. */
    cells: { readonly file: string; readonly update: boolean };
  }
}

const NOT_NEEDED = { missing: "a peer that NEEDS does not name for this project" };

/** Whether the set-up could not make all of these peers; the tests that need them are then skipped. */
export function lacks(...capabilities: Capability[]): boolean {
  const peers = inject("peers");
  return capabilities.some((capability) => "missing" in (peers[capability] ?? NOT_NEEDED));
}

/** The environment of a peer. Throws the set-up's sentence when there is none. */
export function peer(capability: Capability): Venv {
  const found = inject("peers")[capability] ?? NOT_NEEDED;
  if ("missing" in found) throw new Error(found.missing);
  return found;
}
