import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";

const heardOut = new WeakSet<Socket>();

type Done = (error?: Error | null) => void;

/**
 * Lets a connection be read to its end although nothing can be written to it any more. A server that refuses an upload (413, 401) answers before it has
 * read it and closes, which its kernel makes a reset (RFC 9112 §9.6); Node would drop the answer, which lies in our kernel, for the error of the next write.
 * What is written after that goes nowhere, as it would have anyway; whether there was an answer is told by reading.
 */
export function hearOut(socket: Socket): void {
  if (heardOut.has(socket)) return;
  heardOut.add(socket);
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  const forgiving =
    (done: Done): Done =>
    (error) =>
      done(error instanceof Error && isGone(error) ? null : error);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, forgiving(done));
  if (writev !== undefined) {
    socket._writev = (chunks, done) => writev(chunks, forgiving(done));
  }
}

/**
 * Has an answer whose end is that of its connection break off where the connection was reset. A reset that comes together with the last bytes is told of as an
 * end like any other (libuv 1.46, `uv__stream_io`); only a write finds out, even one of nothing.
 */
export function tellResetFromEnd(answer: IncomingMessage): void {
  const { socket } = answer;
  socket.prependOnceListener("end", () => {
    if (answer.complete) return;
    Socket.prototype._write.call(socket, "", "latin1", (error) => {
      if (error instanceof Error) answer.destroy(error);
    });
  });
}

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ECONNRESET";
}
