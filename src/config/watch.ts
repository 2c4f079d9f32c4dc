import { unwatchFile, watchFile } from "node:fs";

/**
 * How often the file is looked at, in milliseconds. Looking sees edits in place, by rename and by the symbolic links of Kubernetes ConfigMaps, and it sees them
 * on network file systems, where the kernel tells nobody of changes made elsewhere.
 */
const LOOK_EVERY_MS = 250;

/** Calls `onChange` whenever the file has become another one or has other bytes; not while it is missing. Returns how to stop. */
export function watchConfig(file: string, onChange: () => void): () => void {
  const look = (now: { readonly ino: number }): void => {
    if (now.ino !== 0) onChange();
  };
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  return () => unwatchFile(file, look);
}
