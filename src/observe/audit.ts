import { constants, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { setTimeout as after } from "node:timers/promises";
import type { Audit as AuditOptions } from "../config/config.js";
import { type Logger, logEvent } from "./log.js";
import type { MaskedRecord } from "./passage.js";

/** What may wait for a slow disk, in bytes; what comes on top of it is lost and counted. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** A pipe that nobody reads is tried again so often, and at the end for so long, in milliseconds. */
const RETRY_MS = 20;
const LAST_PATIENCE_MS = 1000;

const NOBODY_READS = "nobody reads it";

/** A pipe that takes nothing says so: a write that waited for its reader would hold up the end of the process. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK;

/**
 * A file with one JSON line for each masked answer. Lines are written one batch after the other, beside the traffic; a disk that takes none costs
 * lines, which are counted and told of once, and nothing else. One process writes to one file.
 */
export class Audit {
  /** Lines that are in the file. */
  written = 0;
  /** Lines that no disk took. */
  lost = 0;
  readonly #options: AuditOptions;
  readonly #log: Logger;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | undefined;
  #file: FileHandle | undefined;
  #size = 0;
  #isRegular = true;
  #identity = "";
  #lostSinceSaid = 0;
  #failing = false;
  #givenUp = false;

  constructor(options: AuditOptions, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** Opens the file, so that one that cannot be written is told of at the start. Never rejects. */
  async start(): Promise<void> {
    try {
      this.#file ??= await this.#open();
    } catch (error) {
      this.#fail(error, 0);
    }
  }

  /** Takes a record; it is in the file a little later. */
  write(record: MaskedRecord): void {
    const line = `${JSON.stringify(record)}\n`;
    if (this.#waitingBytes + line.length > MAX_WAITING_BYTES) {
      this.#fail(new Error("the disk is too slow"), 1);
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#writing ??= this.#drain();
  }

  /** Writes what waits, as much of it as is taken within a second, and closes the file. */
  async close(): Promise<void> {
    const limit = setTimeout(() => {
      this.#givenUp = true;
    }, LAST_PATIENCE_MS);
    await this.#writing;
    clearTimeout(limit);
    await this.#shut();
    const lost = this.#lostSinceSaid;
    if (!this.#givenUp || lost === 0) return;
    this.#lostSinceSaid = 0;
    const { file } = this.#options;
    const says = `${lost} masked answers were not recorded in ${file}`;
    logEvent(this.#log, "error", "audit_failed", { file, lost }, says);
  }

  async #drain(): Promise<void> {
    // Lines of one turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const lines = this.#batch();
      try {
        // A pipe that was given up has been closed and is empty: it would take these, and nobody would ever have them.
        if (this.#givenUp && !this.#isRegular) throw new Error(NOBODY_READS);
        await this.#append(lines);
        this.written += lines.length;
        this.#recover();
      } catch (error) {
        this.#fail(error, lines.length);
      }
    }
    this.#writing = undefined;
  }

  /** As many lines as go into one file, one at least. */
  #batch(): string[] {
    const room = this.#options.maxBytes - (this.#size < this.#options.maxBytes ? this.#size : 0);
    let bytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      bytes += Buffer.byteLength(line);
      if (count > 0 && bytes > room) break;
      count += 1;
    }
    const lines = this.#waiting.splice(0, count);
    for (const line of lines) this.#waitingBytes -= line.length;
    return lines;
  }

  async #append(lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(lines.join(""));
    if (this.#isRegular && !(await this.#isInPlace())) await this.#shut();
    this.#file ??= await this.#open();
    // A device or a pipe is nobody's to rename.
    const isFull = this.#size > 0 && this.#size + bytes.length > this.#options.maxBytes;
    if (isFull && this.#isRegular) {
      await this.#rotate();
      this.#file = await this.#open();
    }
    try {
      await this.#writeAll(this.#file, bytes);
      this.#size += bytes.length;
    } catch (error) {
      // What a full disk took of a line would spoil the next one.
      await this.#file.truncate(this.#size).catch(() => undefined);
      await this.#shut();
      throw error;
    }
  }

  async #writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
    let written = 0;
    while (written < bytes.length) {
      try {
        written += (await file.write(bytes, written)).bytesWritten;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
        if (this.#givenUp) throw new Error(NOBODY_READS, { cause: error });
        await after(RETRY_MS);
      }
    }
  }

  async #open(): Promise<FileHandle> {
    const file = await open(this.#options.file, FLAGS, 0o640);
    try {
      const stats = await file.stat();
      const { size } = stats;
      this.#size = size;
      this.#isRegular = stats.isFile();
      this.#identity = identityOf(stats);
      const last = Buffer.alloc(1);
      if (size > 0) await file.read(last, 0, 1, size - 1);
      // A line that a crash cut off stays one line of its own.
      if (size > 0 && last[0] !== 0x0a) {
        await file.appendFile("\n");
        this.#size += 1;
      }
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Whether the open file still has its name: lines for one that somebody has moved or deleted would be lost unseen. */
  async #isInPlace(): Promise<boolean> {
    const there = await stat(this.#options.file).catch(() => undefined);
    return there !== undefined && identityOf(there) === this.#identity;
  }

  /** FILE becomes FILE.1, FILE.1 becomes FILE.2, and the one after the last that is kept goes. */
  async #rotate(): Promise<void> {
    const { file, keep } = this.#options;
    await this.#shut();
    if (keep === 0) {
      await rm(file, { force: true });
      return;
    }
    for (let n = keep - 1; n >= 0; n--) {
      const from = n === 0 ? file : `${file}.${n}`;
      await rename(from, `${file}.${n + 1}`).catch(ignoreMissing);
    }
  }

  async #shut(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  #fail(error: unknown, lines: number): void {
    this.lost += lines;
    this.#lostSinceSaid += lines;
    if (this.#failing) return;
    this.#failing = true;
    const { file } = this.#options;
    const why = error instanceof Error ? error.message : String(error);
    const says = `masked answers are not recorded in ${file} (${why}); clients get what they always get`;
    logEvent(this.#log, "error", "audit_failed", { file }, says);
  }

  #recover(): void {
    if (!this.#failing) return;
    this.#failing = false;
    const lost = this.#lostSinceSaid;
    this.#lostSinceSaid = 0;
    const { file } = this.#options;
    const says = `masked answers are recorded in ${file} again; ${lost} were not`;
    logEvent(this.#log, "warn", "audit_resumed", { file, lost }, says);
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
