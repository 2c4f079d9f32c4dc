import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProxyError } from "../errors.js";

/** Part of a spill file. */
export interface Extent {
  readonly offset: number;
  readonly length: number;
}

/**
 * A temporary file for the part of an answer that memory has no room for. Its name is removed as soon as it is open, so that nothing of it is left
 * behind however the process ends.
 */
export class SpillFile {
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** @throws {ProxyError} HOLD_FAILED when the temporary folder (`TMPDIR`) takes no file. */
  static async open(): Promise<SpillFile> {
    const path = join(tmpdir(), `maskgate-${randomUUID()}.held`);
    try {
      const handle = await open(path, "wx+", 0o600);
      await unlink(path);
      return new SpillFile(handle);
    } catch (cause) {
      throw failed(cause);
    }
  }

  /** @throws {ProxyError} HOLD_FAILED when the disk takes no more. */
  async append(chunk: Buffer): Promise<Extent> {
    const extent = { offset: this.#size, length: chunk.length };
    this.#size += chunk.length;
    try {
      for (let done = 0; done < chunk.length;) {
        const at = extent.offset + done;
        done += (await this.#handle.write(chunk, done, chunk.length - done, at)).bytesWritten;
      }
    } catch (cause) {
      throw failed(cause);
    }
    return extent;
  }

  /**
   * @param into - what may be overwritten; used where the extent fits.
   * @throws {ProxyError} HOLD_FAILED when the disk does not give back what it took.
   */
  async read({ offset, length }: Extent, into?: Buffer): Promise<Buffer> {
    const fits = into !== undefined && into.length >= length;
    const chunk = fits ? into.subarray(0, length) : Buffer.allocUnsafeSlow(length);
    try {
      const { bytesRead } = await this.#handle.read(chunk, 0, length, offset);
      if (bytesRead === length) return chunk;
    } catch (cause) {
      throw failed(cause);
    }
    throw failed(undefined);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function failed(cause: unknown): ProxyError {
  const detail = cause instanceof Error ? cause.message : "it was cut short";
  const message = `the answer does not fit into holdMemoryBytes, and the temporary folder cannot hold it (${detail})`;
  return new ProxyError("HOLD_FAILED", message, { cause });
}
