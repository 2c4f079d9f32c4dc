import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closeLater } from "../helpers/closing.js";
import { eventually } from "../helpers/eventually.js";
import { answer, chunk, request, SCORED } from "../helpers/messages.js";
import { MODES, startInMode } from "../helpers/modes.js";
import { askMeanwhile, openClient } from "../helpers/raw-client.js";

const EARLY = answer(SCORED);
const PIECE = 15_000;
const MB = 1024 * 1024;

/** An upload in chunks that comes whole in one reading; all of its body is the letter z. */
const CHUNKED = Buffer.concat([
  Buffer.from("POST /verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"),
  ...Array.from({ length: 4 }, () => chunk("z".repeat(PIECE))),
  chunk(""),
]);

/**
 * A server behind a socket file, whose buffer in the kernel is small: it answers the first upload of a connection at once and reads on only when told to.
 */
async function startReluctant() {
  const folder = await mkdtemp(join(tmpdir(), "maskgate-"));
  closeLater(async () => rm(folder, { recursive: true }));
  const path = join(folder, "g.sock");
  const uploads: Socket[] = [];
  let letters = 0;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      const text = data.toString("latin1");
      letters += text.split("z").length - 1;
      if (uploads.includes(socket)) return;
      if (/^(?:GET|POST) /.test(text)) socket.write(EARLY);
      if (!text.startsWith("POST")) return;
      uploads.push(socket);
      socket.pause();
    });
  }).listen(path);
  await once(server, "listening");
  closeLater(() => {
    for (const socket of uploads) socket.destroy();
    server.close();
  });
  return {
    url: `unix:${path}`,
    answerAgain: () => uploads.length === 1 && uploads[0]?.write(EARLY),
    readOn: () => uploads.map((socket) => socket.resume()),
    letters: () => letters,
  };
}

describe.each(MODES)("an upload on a connection whose upstream reads slowly (%s)", (mode) => {
  // The kernel takes some 320 kB; at one of these sizes it has room for a part of the second upload.
  it.each([300, 320, 340, 360, 380, 400])(
    "is passed on whole when its answer comes first, behind one of %i kB",
    async (kB) => {
      const upstream = await startReluctant();
      const proxy = await startInMode(mode, upstream);
      const client = await openClient(proxy.url);
      client.write(request("POST", "/verify", { body: "a".repeat(kB * 1000) }));
      expect((await client.reply("POST")).text).toBe(SCORED);
      client.write(CHUNKED);
      await askMeanwhile(proxy.url, 3, request("GET", "/other"));
      upstream.answerAgain();
      expect((await client.reply("POST")).text).toBe(SCORED);
      upstream.readOn();
      await eventually(() => expect(upstream.letters()).toBe(4 * PIECE));
    },
  );
});

describe.each(MODES)("an upload behind one that ended in the same reading (%s)", (mode) => {
  it("stays with its client while the upstream does not read it", async () => {
    const upstream = await startReluctant();
    const proxy = await startInMode(mode, upstream);
    const client = connect(Number(new URL(proxy.url).port), "127.0.0.1");
    client.on("error", () => undefined);
    closeLater(() => void client.destroy());
    const [first, second] = [20_000, 64 * MB].map((size) =>
      Buffer.from(`POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`),
    );
    if (first === undefined || second === undefined) throw new Error("no head");
    client.write(Buffer.concat([first, Buffer.alloc(20_000), second, Buffer.alloc(20_000)]));
    let taken = 0;
    for (let n = 0; n < 64; n += 1) client.write(Buffer.alloc(MB), () => (taken += 1));
    let before = -1;
    while (before !== taken) {
      before = taken;
      await askMeanwhile(proxy.url, 20, request("GET", "/other"));
    }
    expect(taken).toBeLessThan(40);
  });
});
