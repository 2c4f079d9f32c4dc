import type { IncomingMessage } from "node:http";
import { CLIENT_KEEP_ALIVE_MS } from "./limits.js";

/**
 * Has a connection that ends with the answer to this request end only when the request is there too. Node would close both directions behind the answer, in
 * the middle of the upload, and its kernel would reset what still comes (RFC 9112 §9.6). The client sees the end at once and may leave at it.
 */
export function endBehindUpload(request: IncomingMessage): void {
  const { socket } = request;
  const end = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) {
      end();
      return;
    }
    socket.end();
    socket.setTimeout(CLIENT_KEEP_ALIVE_MS);
    request.once("end", end);
  };
}
