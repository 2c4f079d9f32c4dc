import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger, logEvent, writeLine } from "../../../src/observe/log.js";

const EVIL = "k\u001b[31m\u009b2J\u009d0;t\u009c\u202e\u2028";

/** What was written with that evil text in a field and in the message, and by another process. */
function written(readable: boolean): string {
  const texts: string[] = [];
  const destination = new Writable({
    write: (text, _, done) => {
      texts.push(String(text));
      done();
    },
  });
  const log = createLogger({ level: "info", readable, destination });
  logEvent(log, "info", "translated", { kind: EVIL }, `says ${EVIL}\nand more`);
  writeLine(
    log,
    `${JSON.stringify({ level: "warn", time: 0, kind: EVIL, msg: `told ${EVIL}` })}\n`,
  );
  return texts.join("");
}

describe("the log for people", () => {
  it("holds nothing of others that a terminal obeys", () => {
    const text = written(true);
    expect(text).toMatch(/says k\?\[31m\?2J\?0;t\?{3}\n *and more/);
    expect(text).toContain("told k?[31m?2J?0;t???");
    expect(text.trimEnd().split("\n")).toHaveLength(5);
    for (const evil of ["k\u001b", "\u009b", "\u009c", "\u009d", "\u202e", "\u2028"]) {
      expect(text).not.toContain(evil);
    }
  });
});

describe("the log for programs", () => {
  it("keeps the text as it is, in JSON", () => {
    const [line] = written(false).split("\n");
    expect(JSON.parse(line!)).toMatchObject({ kind: EVIL, msg: `says ${EVIL}\nand more` });
  });
});
