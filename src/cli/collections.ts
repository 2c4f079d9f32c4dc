import { setFlagsFromString } from "node:v8";

/**
 * Lets V8 wait with a full collection until old objects, and the buffers that it counts with them, are four times what the last one left. That is the largest
 * factor that V8 would take by itself; what it takes after a start makes it collect the whole heap for about every 30 MB of answers that pass through.
 */
export function collectLessOften(): void {
  setFlagsFromString("--heap-growing-percent=300");
}
