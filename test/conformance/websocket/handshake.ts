import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { createHash } from "node:crypto";
import { WebSocket } from "ws";
import type { Case, Cases } from "./cases.js";
import type { Ground } from "./ground.js";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const ASKING = `GET /raw HTTP/1.1\r\nHost: gym.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`;
const SWITCHING =
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";

const collected = async (socket: Socket): Promise<Buffer> => {
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  await once(socket, "end");
  return Buffer.concat(parts);
};

const NOISE = Buffer.concat(
  Array.from({ length: 8_000 }, (_, n) => createHash("sha256").update(String(n)).digest()),
);

/** Whatever follows the 101 is carried as it is, from the first byte, which may come in one piece with the header. */
async function anyBytes({ url, onUpgrade }: Ground): Promise<unknown> {
  const client = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  const atServer = new Promise<Buffer>((resolve) => {
    onUpgrade((_request, socket, head) => {
      socket.unshift(head);
      const parts: Buffer[] = [];
      let size = 0;
      socket.on("data", (part: Buffer) => {
        parts.push(part);
        size += part.length;
        if (size < NOISE.length) return;
        resolve(Buffer.concat(parts));
        socket.end(NOISE.subarray(1));
      });
      socket.write(Buffer.concat([Buffer.from(SWITCHING), NOISE.subarray(0, 1)]));
    });
  });
  const atClient = collected(client);
  client.write(Buffer.concat([Buffer.from(ASKING), NOISE.subarray(0, 100)]));
  for (let at = 100; at < NOISE.length; at += 7_001) client.write(NOISE.subarray(at, at + 7_001));
  const server = await atServer;
  const came = await atClient;
  client.destroy();
  const body = came.subarray(came.indexOf("\r\n\r\n") + 4);
  return [server.equals(NOISE), body.equals(NOISE)];
}

const OF_THE_HOP = new Set(["connection", "keep-alive"]);

const pairsOf = (raw: readonly string[]): string[] =>
  raw.flatMap((name, at) =>
    at % 2 === 0 && !OF_THE_HOP.has(name.toLowerCase()) ? [`${name}: ${raw[at + 1]}`] : [],
  );

/** A server that says no, with this status and a body. */
const declined = (status: number, framing: "length" | "chunks" | "close"): Case => {
  const body = `{"detail":"no ${status}"}`;
  const framed = {
    length: [`Content-Length: ${body.length}\r\n\r\n`, body],
    chunks: [
      "Transfer-Encoding: chunked\r\n\r\n",
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ],
    close: ["\r\n", body],
  }[framing];
  return {
    run: async ({ url, onUpgrade }) => {
      onUpgrade((_request, socket) => {
        socket.end(`HTTP/1.1 ${status} No Such Luck\r\nX-Why: a\r\nx-why: b\r\n${framed.join("")}`);
      });
      const client = new WebSocket(url.replace("http", "ws"));
      client.on("error", () => undefined);
      const [, answer] = (await once(client, "unexpected-response")) as [unknown, IncomingMessage];
      const text = Buffer.concat(await answer.toArray()).toString();
      const fields = pairsOf(answer.rawHeaders).filter((line) => /^x-why/i.test(line));
      return [answer.statusCode, answer.statusMessage, fields, text];
    },
    expected: [status, "No Such Luck", ["X-Why: a", "x-why: b"], body],
  };
};

const protocols = (offered: string[], chosen: string): Case => ({
  run: async ({ pair }) => {
    const ends = await pair({
      protocols: offered,
      server: { handleProtocols: () => chosen || false },
    });
    const seen = [ends.request.headers["sec-websocket-protocol"] ?? "", ends.client.protocol];
    ends.client.terminate();
    return seen;
  },
  expected: [offered.join(","), chosen],
});

const SENT = {
  Host: "gym.example:8123",
  "X-MixedCase": "1",
  Cookie: "session=a; b=c",
  Authorization: "Bearer t",
};

/** How a WebSocket is asked for, and declined. */
export const HANDSHAKE: Cases = {
  ...Object.fromEntries(
    [400, 401, 403, 404, 426, 429, 500, 503].map((status) => [
      `declined with ${status}`,
      declined(status, "length"),
    ]),
  ),
  "declined with a body in chunks": declined(403, "chunks"),
  "declined with a body up to the end": declined(403, "close"),
  "one subprotocol": protocols(["chat"], "chat"),
  "the second of two subprotocols": protocols(["chat", "v2.gym"], "v2.gym"),
  "no subprotocol": protocols([], ""),
  "the fields and the target of the request": {
    run: async ({ pair }) => {
      const ends = await pair({ path: "/a/%2F//b;c?x=1&&y", client: { headers: SENT } });
      const { url, rawHeaders } = ends.request;
      ends.client.terminate();
      const names = new Set(Object.keys(SENT).map((name) => name.toLowerCase()));
      const ours = pairsOf(rawHeaders).filter((line) =>
        names.has(line.split(":", 1)[0]!.toLowerCase()),
      );
      return [url, ours.toSorted()];
    },
    expected: [
      "/a/%2F//b;c?x=1&&y",
      Object.entries(SENT)
        .map(([name, value]) => `${name}: ${value}`)
        .toSorted(),
    ],
  },
  "any bytes behind the 101": { run: anyBytes, expected: [true, true] },
};
