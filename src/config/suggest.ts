/** The candidate that `word` was most likely meant to be; undefined when none is near. */
export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const plain = flat(word);
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(plain, flat(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const nearest = ranked[0];
  const limit = Math.max(1, Math.floor(plain.length / 3));
  if (nearest !== undefined && nearest.distance <= limit) return nearest.candidate;
  if (plain.length < 4) return undefined;
  return candidates.find((candidate) => flat(candidate).includes(plain));
}

/** Case, hyphens and underscores are how the same name is spelt in flags, variables and files. */
function flat(name: string): string {
  return name
    .toLowerCase()
    .replace(/[-_\s]/g, "")
    .slice(0, 64);
}

/** Insertions, deletions, replacements and swaps of neighbours that lead from one to the other. */
function distance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let best = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        best = Math.min(best, beforeLast[j - 2]! + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[to.length]!;
}
