import { createHash } from "node:crypto";

/** Into how many equal parts keys are divided: a percentage has steps of 0.01. */
export const BUCKETS = 10_000;

/**
 * The bucket of a key, from 0 to 9,999: the same on every machine and after every restart, and near-uniform over keys. Salt and key are hashed
 * as a JSON array, so that no two pairs of them run together into one text.
 */
export function bucketOf(salt: string, key: string): number {
  const digest = createHash("sha256")
    .update(JSON.stringify([salt, key]))
    .digest();
  return digest.readUIntBE(0, 6) % BUCKETS;
}

/** Whether a bucket is among the first `percentage` of all: none at 0, every one at 100, and never fewer at a higher percentage. */
export function isBelow(bucket: number, percentage: number): boolean {
  return bucket < Math.round((percentage * BUCKETS) / 100);
}
