import { createHash } from "node:crypto";

/** Whether a ramp at this percentage takes the key. DESIGN section 2, written anew: six bytes of sha256 over a JSON array, in 10,000 buckets. */
export function isTaken(salt: string, key: string, percentage: number): boolean {
  const digest = createHash("sha256")
    .update(JSON.stringify([salt, key]))
    .digest();
  return digest.readUIntBE(0, 6) % 10_000 < percentage * 100;
}
