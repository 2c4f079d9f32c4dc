import { createServer } from "node:net";

const BODY = `{"reward":1.0,"mask_sample":false,"pad":"${"x".repeat(20_000)}"}`;
const HALF = BODY.slice(0, 10_000);
const head = (...fields) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${fields.map((field) => `${field}\r\n`).join("")}\r\n`;
const WITH_LENGTH = head(`Content-Length: ${BODY.length}`);
const IN_CHUNKS = head("Transfer-Encoding: chunked");
const aChunk = `${HALF.length.toString(16)}\r\n${HALF}\r\n`;

/** How long an idle connection of `/idle` is kept. */
export const IDLE_MS = 1_000;

/** What the upstream does with a request, by the path that is asked for behind `/verify?`. */
const FAULTS = {
  ok: (socket) => socket.write(WITH_LENGTH + BODY),
  idle: (socket) => {
    socket.write(WITH_LENGTH + BODY);
    socket.idle = setTimeout(() => socket.end(), IDLE_MS);
  },
  reset: (socket) => socket.resetAndDestroy(),
  fin: (socket) => socket.end(),
  silent: () => undefined,
  garbage: (socket) => socket.end("no answer at all\r\n\r\n"),
  "large-header": (socket) =>
    socket.end(head(`X-Large: ${"x".repeat(70_000)}`, "Content-Length: 0")),
  "cut-length": (socket) => socket.end(WITH_LENGTH + HALF),
  "cut-chunks": (socket) => socket.end(IN_CHUNKS + aChunk),
  "reset-length": (socket) => {
    socket.write(WITH_LENGTH + HALF);
    setTimeout(() => socket.resetAndDestroy(), 200);
  },
  early: (socket) => {
    socket.pause();
    socket.write(
      "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    );
    setTimeout(() => socket.resetAndDestroy(), 200);
  },
};

/** A server that goes wrong as it is asked to, and counts how often each request came and when its connection ended. */
export async function startUpstream() {
  const deliveries = new Map();
  const ends = new Map();
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    let before = Buffer.alloc(0);
    let id;
    socket.on("data", (data) => {
      clearTimeout(socket.idle);
      before = Buffer.concat([before, data]);
      const end = before.indexOf("\r\n\r\n");
      const [, fault, asked] = /^\S+ \/\w+\?([\w-]+)&(\S+)/.exec(before.toString("latin1")) ?? [];
      if (end === -1 || fault === undefined) return;
      const length = Number(
        /content-length: (\d+)/i.exec(before.toString("latin1", 0, end))?.[1] ?? 0,
      );
      if (fault !== "early" && before.length < end + 4 + length) return;
      before = Buffer.alloc(0);
      id = asked;
      deliveries.set(id, (deliveries.get(id) ?? 0) + 1);
      FAULTS[fault](socket);
    });
    socket.on("close", () => ends.set(id, performance.now()));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { port: server.address().port, deliveries, ends, body: BODY, server };
}
