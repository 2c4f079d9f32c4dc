import { readdirSync, readlinkSync, statSync } from "node:fs";

const OWN = "/proc/self/fd";

/** The descriptors of this process that stand for a spill file: Linux alone tells. Each must be without a name and closed to other users. */
export function spillFiles(): string[] {
  return readdirSync(OWN).flatMap((name) => {
    const path = `${OWN}/${name}`;
    try {
      const file = readlinkSync(path);
      if (!/\/maskgate-[^/]*\.held/.test(file)) return [];
      const mode = (statSync(path).mode & 0o777).toString(8);
      return [`${file.endsWith(" (deleted)") ? "nameless" : file} ${mode}`];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
}
