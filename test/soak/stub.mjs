import { randomBytes } from "node:crypto";
import http from "node:http";
import { gzipSync } from "node:zlib";

const NOISE = randomBytes(6_000_000).toString("base64");

/** The body of an answer: the same for the same kind, size and id. */
export function bodyOf(kind, size, id) {
  const mask = kind.startsWith("masked");
  const tail = mask
    ? `"reward":0.0,"mask_sample":true,"failure_kind":"soak","failure_reason":"${id}"`
    : `"reward":${(Number(id) % 100) / 100},"mask_sample":false`;
  if (kind === "sse") return Array.from({ length: 5 }, (_, n) => `data: ${id} ${n}\n\n`).join("");
  return `{"id":${id},"response":"${NOISE.slice(0, size)}",${tail}}`;
}

/** A server that answers as the query says, and counts how often each request came. */
export async function startStub() {
  const deliveries = new Map();
  const server = http.createServer((request, reply) => {
    const url = new URL(request.url, "http://stub");
    const [kind, size, id] = ["kind", "size", "id"].map((name) => url.searchParams.get(name));
    deliveries.set(id, (deliveries.get(id) ?? 0) + 1);
    request.on("error", () => undefined);
    reply.on("error", () => undefined);
    request.resume();
    request.on("end", () => {
      answer(request, reply, kind, Number(size), id).catch(() => request.socket.destroy());
    });
  });
  server.keepAliveTimeout = 2000;
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, deliveries, url: `http://127.0.0.1:${server.address().port}` };
}

async function answer(request, reply, kind, size, id) {
  const { socket } = request;
  const body = Buffer.from(bodyOf(kind, size, id));
  const head = { "content-type": "application/json", "content-length": body.length };
  switch (kind) {
    case "reset-before":
      socket.resetAndDestroy();
      return;
    case "reset-inside":
      reply.writeHead(200, head);
      reply.write(body.subarray(0, body.length / 2), () => socket.resetAndDestroy());
      return;
    case "cut-inside":
      reply.writeHead(200, { "content-type": "application/json" });
      reply.write(body.subarray(0, body.length / 2), () => socket.end());
      return;
    case "silent":
      reply.writeHead(200, head);
      reply.write(body.subarray(0, body.length / 2));
      return;
    case "garbage":
      socket.end("no answer at all\r\n\r\n");
      return;
    case "own-503":
      reply.writeHead(503, { ...head, "retry-after": "1" });
      reply.end(body);
      return;
    case "sse":
      reply.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of body.toString().split(/(?<=\n\n)/)) {
        reply.write(event);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      reply.end();
      return;
    case "seed":
      reply.writeHead(200, { ...head, "set-cookie": `session=${id}; path=/` });
      reply.end(body);
      return;
    case "masked-gzip":
    case "scored-gzip": {
      const packed = gzipSync(body, { level: 1 });
      reply.writeHead(200, {
        ...head,
        "content-encoding": "gzip",
        "content-length": packed.length,
      });
      reply.end(packed);
      return;
    }
    case "masked-chunks":
    case "scored-chunks":
      reply.writeHead(200, { "content-type": "application/json" });
      for (let at = 0; at < body.length; at += 50_000) reply.write(body.subarray(at, at + 50_000));
      reply.end();
      return;
    default:
      reply.writeHead(200, head);
      reply.end(body);
  }
}
