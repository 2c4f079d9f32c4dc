/** How far the reading is. */
export interface Progress {
  readonly bytes: number;
  /** Undefined where a size is not known beforehand, as with standard input. */
  readonly totalBytes: number | undefined;
  readonly rollouts: number;
  readonly masked: number;
  readonly seconds: number;
}

const BAR = 24;

/** A bar with what is done and how long the rest will take, for a terminal; less than 80 columns. */
export function progressBar(progress: Progress): string {
  const { bytes, totalBytes, rollouts } = progress;
  const counted = `${rollouts.toLocaleString("en-US")} rollouts`;
  if (totalBytes === undefined || totalBytes === 0) return `${size(bytes)}, ${counted}`;
  const share = Math.min(1, bytes / totalBytes);
  const filled = Math.round(share * BAR);
  const bar = `[${"#".repeat(filled)}${".".repeat(BAR - filled)}]`;
  return `${bar} ${percent(share)} of ${size(totalBytes)}, ${counted}${timeLeft(progress, share)}`;
}

/** The same as a plain sentence, for a log. */
export function progressSentence(progress: Progress): string {
  const { bytes, totalBytes, rollouts, masked } = progress;
  const total = totalBytes === undefined ? "" : ` of ${size(totalBytes)}`;
  const counts = `${rollouts.toLocaleString("en-US")} rollouts, ${masked.toLocaleString("en-US")} masked`;
  return `read ${size(bytes)}${total}: ${counts}`;
}

function timeLeft({ seconds }: Progress, share: number): string {
  if (seconds < 1 || share < 0.01) return "";
  const left = Math.round((seconds / share) * (1 - share));
  const minutes = Math.floor(left / 60);
  return `, ${minutes > 0 ? `${minutes} min ` : ""}${left % 60} s left`;
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`.padStart(5);
}

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${Math.ceil(bytes / 1e3)} kB`;
}
