import { unwatchFile, watchFile } from "node:fs";

/**
 * How often the file is looked at, in milliseconds. Looking sees edits in place, by rename and by the symbolic links of Kubernetes ConfigMaps, and it sees them
 * on network file systems, where the kernel tells nobody of changes made elsewhere.
 */
const LOOK_EVERY_MS = 100;

/**
 * How long the file must have stayed as it is, in milliseconds: the first half of a file that is being written in place may be a valid one, with fewer
 * routes or another percentage.
 */
const SETTLED_MS = 250;

/** How long after the start the file is read once more where no change was noticed, in milliseconds: later than the watching has begun. */
const FIRST_LOOK_MS = 500;

/**
 * Calls `onChange` whenever the file has become another one or has other bytes, and has settled, and `onMissing` once when it has gone and does not
 * come back at once, as it does where a new one takes its place. `onStart` is called once where no change was noticed at first: one before the watching had
 * begun would never be. Returns how to stop.
 */
export function watchConfig(
  file: string,
  onChange: () => void,
  onMissing: () => void = () => {},
  onStart: () => void = () => {},
): () => void {
  let settling = setTimeout(onStart, FIRST_LOOK_MS);
  settling.unref();
  const look = (now: { readonly ino: number }): void => {
    clearTimeout(settling);
    settling = setTimeout(now.ino === 0 ? onMissing : onChange, SETTLED_MS);
    settling.unref();
  };
  watchFile(file, { interval: LOOK_EVERY_MS, persistent: false }, look);
  return () => {
    clearTimeout(settling);
    unwatchFile(file, look);
  };
}
