import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { Audit } from "../../../src/observe/audit.js";
import type { MaskedRecord } from "../../../src/observe/passage.js";
import { closeLater } from "../../helpers/closing.js";
import { eventually } from "../../helpers/eventually.js";

const record = (reason: string): MaskedRecord => ({ reason }) as MaskedRecord;

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "maskgate-audit-"));
  closeLater(async () => rm(path, { recursive: true }));
  return path;
}

function auditIn(
  file: string,
  maxBytes = 1 << 20,
  keep = 2,
): { audit: Audit; events: () => unknown[]; logged: () => unknown[] } {
  const lines: { event: unknown }[] = [];
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()) as { event: unknown });
      done();
    },
  });
  const audit = new Audit({ file, maxBytes, keep }, pino(stream));
  return { audit, events: () => lines.map(({ event }) => event), logged: () => lines };
}

const reasonsIn = async (file: string): Promise<unknown[]> =>
  (await readFile(file, "utf8"))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as MaskedRecord).reason);

describe("an audit file", () => {
  it("gets a line for each record, in order, after what was there", async () => {
    const file = join(await folder(), "a.jsonl");
    for (const words of [["one", "line\nbreak"], ["two"]]) {
      const { audit } = auditIn(file);
      await audit.start();
      for (const word of words) audit.write(record(word));
      await audit.close();
      expect(audit.written).toBe(words.length);
    }
    expect(await reasonsIn(file)).toEqual(["one", "line\nbreak", "two"]);
  });

  it("keeps a line that a crash cut off apart from the next one", async () => {
    const file = join(await folder(), "a.jsonl");
    await writeFile(file, '{"reason":"cu');
    const { audit } = auditIn(file);
    audit.write(record("next"));
    await audit.close();
    expect(await readFile(file, "utf8")).toBe('{"reason":"cu\n{"reason":"next"}\n');
  });

  it("that somebody moves or deletes is made anew for the next record", async () => {
    const file = join(await folder(), "a.jsonl");
    const { audit } = auditIn(file);
    audit.write(record("one"));
    await eventually(() => expect(audit.written).toBe(1));
    await rename(file, `${file}.moved`);
    audit.write(record("two"));
    await eventually(() => expect(audit.written).toBe(2));
    await rm(file);
    audit.write(record("three"));
    await audit.close();
    expect(await reasonsIn(`${file}.moved`)).toEqual(["one"]);
    expect(await reasonsIn(file)).toEqual(["three"]);
  });

  it("is renamed at its size, and only as many are kept as were asked for", async () => {
    const path = await folder();
    const file = join(path, "a.jsonl");
    const { audit } = auditIn(file, 1024, 2);
    const words = Array.from({ length: 20 }, (_, n) => `${n} ${"x".repeat(300)}`);
    for (const word of words) audit.write(record(word));
    await audit.close();
    expect((await readdir(path)).toSorted()).toEqual(["a.jsonl", "a.jsonl.1", "a.jsonl.2"]);
    const kept = [`${file}.2`, `${file}.1`, file];
    const found = (await Promise.all(kept.map(reasonsIn))).flat();
    expect(found).toEqual(words.slice(-found.length));
    expect(found.length).toBeGreaterThanOrEqual(7);
    for (const one of kept) expect((await readFile(one)).length).toBeLessThanOrEqual(1024);
  });

  it("with nothing to keep begins anew at its size", async () => {
    const path = await folder();
    const file = join(path, "a.jsonl");
    const { audit } = auditIn(file, 1024, 0);
    for (let n = 0; n < 9; n++) audit.write(record(`${n} ${"x".repeat(300)}`));
    await audit.close();
    expect(await readdir(path)).toEqual(["a.jsonl"]);
    expect(await reasonsIn(file)).toHaveLength(3);
  });

  it("takes a record larger than a file by itself", async () => {
    const file = join(await folder(), "a.jsonl");
    const { audit } = auditIn(file, 1024, 5);
    const words = ["a", "b".repeat(5000), "c"];
    for (const word of words) audit.write(record(word));
    await audit.close();
    const found = await Promise.all([`${file}.2`, `${file}.1`, file].map(reasonsIn));
    expect(found).toEqual(words.map((word) => [word]));
  });

  it("that is a pipe or a device is never renamed", async () => {
    const path = await folder();
    const pipe = join(path, "pipe");
    execFileSync("mkfifo", [pipe]);
    const { audit } = auditIn(pipe, 1024, 2);
    for (let n = 0; n < 9; n++) audit.write(record(`${n} ${"x".repeat(300)}`));
    await audit.close();
    expect(await readdir(path)).toEqual(["pipe"]);
    expect(audit.written).toBe(9);
  });

  it("that is a pipe which nobody reads is given up at the end, and what was lost is said", async () => {
    const pipe = join(await folder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const { audit, events, logged } = auditIn(pipe);
    await audit.start();
    for (let n = 0; n < 90; n++) audit.write(record("x".repeat(2000)));
    await audit.close();
    expect(audit.lost).toBeGreaterThan(0);
    expect(audit.written + audit.lost).toBe(90);
    expect(events()).toEqual(["audit_failed", "audit_failed"]);
    expect(logged().at(-1)).toMatchObject({ lost: audit.lost });
  });

  it("that is given up takes nothing more: the pipe is empty once it has been closed, and its lines are gone", async () => {
    const pipe = join(await folder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const { audit, events, logged } = auditIn(pipe);
    await audit.start();
    audit.write(record("x".repeat(1 << 20)));
    // The first one is being written, so this one waits for a turn of its own.
    await setImmediate();
    audit.write(record("small"));
    await audit.close();
    expect([audit.written, audit.lost]).toEqual([0, 2]);
    expect(events()).toEqual(["audit_failed", "audit_failed"]);
    expect(logged().at(-1)).toMatchObject({ lost: 2 });
  });

  it("on a full disk is told of once, and each line is counted", async () => {
    const { audit, events } = auditIn("/dev/full");
    await audit.start();
    for (let n = 0; n < 5; n++) {
      audit.write(record("lost"));
      await audit.close();
    }
    expect(events()).toEqual(["audit_failed"]);
    expect([audit.written, audit.lost]).toEqual([0, 5]);
  });

  it("that cannot be opened is told of at the start, and goes on once it can be", async () => {
    const path = await folder();
    const file = join(path, "later", "a.jsonl");
    const { audit, events } = auditIn(file);
    await audit.start();
    expect(events()).toEqual(["audit_failed"]);
    audit.write(record("lost"));
    await audit.close();
    await mkdir(join(path, "later"));
    audit.write(record("kept"));
    await audit.close();
    expect(events()).toEqual(["audit_failed", "audit_resumed"]);
    expect([audit.written, audit.lost]).toEqual([1, 1]);
    expect(await reasonsIn(file)).toEqual(["kept"]);
  });
});
