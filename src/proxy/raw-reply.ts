import type { Reply } from "../http/reply.js";

/** The bytes of a reply for a connection that has no parser any more; the connection ends after it. */
export function rawReply({ status, phrase, headers, body }: Reply): Buffer {
  const lines = [`HTTP/1.1 ${status} ${phrase}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push("connection: close", "", "");
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), body]);
}
