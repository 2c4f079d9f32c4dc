import type { RawHeaders } from "../http/headers.js";
import type { Reply } from "../http/reply.js";

/** The bytes of a header with this first line and these fields. */
export function rawHead(line: string, headers: RawHeaders): Buffer {
  const lines = [line];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/** The bytes of a reply for a connection that has no parser any more; the connection ends after it. */
export function rawReply({ status, phrase, headers, body }: Reply): Buffer {
  const head = rawHead(`HTTP/1.1 ${status} ${phrase}`, [...headers, "connection", "close"]);
  return Buffer.concat([head, body]);
}
