import type { Socket } from "node:net";

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

function isGone({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ECONNRESET";
}
