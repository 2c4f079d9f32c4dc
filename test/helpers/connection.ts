import type { Socket } from "node:net";
import { deferred } from "./deferred.js";

/** How the other side ended its half: a FIN, or a reset. */
export type Ending = "fin" | "rst";

/** Bytes of one connection as they come in, with waiting for what they must hold. */
export class Incoming {
  readonly ended: Promise<Ending>;
  ending: Ending | undefined;
  #chunks: Buffer[] = [];
  #length = 0;
  #watchers = new Set<() => void>();

  constructor(socket: Socket) {
    const { promise, resolve } = deferred<Ending>();
    this.ended = promise;
    const end = (how: Ending): void => {
      this.ending ??= how;
      resolve(this.ending);
      this.#wake();
    };
    socket.on("data", (data: Buffer) => {
      this.#chunks.push(data);
      this.#length += data.length;
      this.#wake();
    });
    socket.once("end", () => end("fin"));
    socket.once("error", () => end("rst"));
    socket.once("close", (hadError) => end(hadError ? "rst" : "fin"));
  }

  /** How many bytes have come and were not taken. */
  get length(): number {
    return this.#length;
  }

  /** What has come and was not taken. */
  get bytes(): Buffer {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  /** Removes the first `size` bytes. */
  take(size: number): Buffer {
    const all = this.bytes;
    this.#chunks = [all.subarray(size)];
    this.#length -= size;
    return all.subarray(0, size);
  }

  /** Settles when `ready` gives a value, which is asked again at every arrival and at the end. */
  async until<T>(ready: () => T | undefined): Promise<T> {
    const now = ready();
    if (now !== undefined) return now;
    return new Promise<T>((resolve, reject) => {
      const look = (): void => {
        try {
          const value = ready();
          if (value === undefined) return;
          this.#watchers.delete(look);
          resolve(value);
        } catch (error) {
          this.#watchers.delete(look);
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      this.#watchers.add(look);
    });
  }

  #wake(): void {
    for (const look of [...this.#watchers]) look();
  }
}
