import { readFile } from "node:fs/promises";
import { detectMask } from "maskgate";

for (const file of process.argv.slice(2)) {
  const found = detectMask(await readFile(file));
  const why =
    found.verdict === "masked" ? ` by ${found.signal}: ${found.kind}, ${found.reason}` : "";
  console.log(`${file} is ${found.verdict}${why}`);
}
