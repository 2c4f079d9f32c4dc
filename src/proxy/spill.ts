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

/** The most that waits to be written to one file, or is read from it at once, in bytes; and what all files share for that. */
const AT_ONCE = 512 * 1024;
const AT_ONCE_ALL = 8 * 1024 * 1024;

let openFiles = 0;

/** How much of one file may be in memory just now, in bytes: few files are written and read in large pieces. */
function share(): number {
  return Math.min(AT_ONCE, AT_ONCE_ALL / openFiles);
}

/**
 * A temporary file for the part of an answer that memory has no room for. Its name is removed as soon as it is open, so that nothing of it is left
 * behind however the process ends.
 */
export class SpillFile {
  readonly #handle: FileHandle;
  #size = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #failure: ProxyError | undefined;
  #window = Buffer.alloc(0);
  #windowAt = 0;
  #windowSize = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
    openFiles += 1;
  }

  /** @throws {ProxyError} HOLD_FAILED when the temporary folder (`TMPDIR`) takes no file. */
  static async open(): Promise<SpillFile> {
    const path = join(tmpdir(), `maskgate-${randomUUID()}.held`);
    let handle: FileHandle | undefined;
    try {
      handle = await open(path, "wx+", 0o600);
      await unlink(path);
      return new SpillFile(handle);
    } catch (cause) {
      await handle?.close();
      throw failed(cause);
    }
  }

  /** Where the chunk will lie. It is written with those that come meanwhile; `settled` tells when, `ready` when to go on. */
  append(chunk: Buffer): Extent {
    const extent = { offset: this.#size, length: chunk.length };
    this.#size += chunk.length;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    this.#writing ??= this.#write();
    return extent;
  }

  /** Resolves when more may be appended. @throws {ProxyError} HOLD_FAILED when the disk takes no more. */
  async ready(): Promise<void> {
    while (this.#waitingBytes >= share() && this.#writing !== undefined) await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Resolves when everything is written. @throws {ProxyError} HOLD_FAILED when the disk takes no more. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * The bytes of an extent.
   *
   * @param ahead - what follows is read along with it, into memory that the next such call may overwrite.
   * @throws {ProxyError} HOLD_FAILED when the disk does not give back what it took.
   */
  async read({ offset, length }: Extent, ahead = false): Promise<Buffer> {
    await this.settled();
    if (!ahead) return this.#readInto(Buffer.allocUnsafeSlow(length), offset);
    if (offset < this.#windowAt || offset + length > this.#windowAt + this.#windowSize) {
      const size = Math.min(this.#size - offset, Math.max(length, share()));
      if (this.#window.length < size) this.#window = Buffer.allocUnsafeSlow(size);
      await this.#readInto(this.#window.subarray(0, size), offset);
      this.#windowAt = offset;
      this.#windowSize = size;
    }
    const start = offset - this.#windowAt;
    return this.#window.subarray(start, start + length);
  }

  async close(): Promise<void> {
    openFiles -= 1;
    this.#waiting = [];
    await this.#writing;
    await this.#handle.close();
  }

  /** Writes what waits, batch after batch, to the end; never rejects. */
  async #write(): Promise<void> {
    let at = this.#size - this.#waitingBytes;
    while (this.#waiting.length > 0 && this.#failure === undefined) {
      const batch = this.#waiting;
      this.#waiting = [];
      const length = batch.reduce((sum, chunk) => sum + chunk.length, 0);
      try {
        const { bytesWritten } = await this.#handle.writev(batch, at);
        if (bytesWritten < length) {
          await this.#writeRest(Buffer.concat(batch).subarray(bytesWritten), at + bytesWritten);
        }
      } catch (cause) {
        this.#failure = failed(cause);
      }
      at += length;
      this.#waitingBytes -= length;
    }
    this.#writing = undefined;
  }

  /** What a call that stopped short of the end left over. */
  async #writeRest(rest: Buffer, at: number): Promise<void> {
    for (let done = 0; done < rest.length;) {
      const left = rest.length - done;
      done += (await this.#handle.write(rest, done, left, at + done)).bytesWritten;
    }
  }

  async #readInto(chunk: Buffer, offset: number): Promise<Buffer> {
    try {
      for (let done = 0; done < chunk.length;) {
        const left = chunk.length - done;
        const { bytesRead } = await this.#handle.read(chunk, done, left, offset + done);
        if (bytesRead === 0) throw failed(undefined);
        done += bytesRead;
      }
    } catch (cause) {
      throw cause instanceof ProxyError ? cause : failed(cause);
    }
    return chunk;
  }
}

function failed(cause: unknown): ProxyError {
  const detail = cause instanceof Error ? cause.message : "it was cut short";
  const message = `the answer does not fit into holdMemoryBytes, and the temporary folder cannot hold it (${detail})`;
  return new ProxyError("HOLD_FAILED", message, { cause });
}
