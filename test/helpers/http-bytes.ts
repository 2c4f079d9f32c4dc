/** A header field as it stood on the wire: latin-1, case kept, white space around the value cut. */
export type Field = readonly [name: string, value: string];

/** The first line and the fields of a message. */
export interface Head {
  readonly line: string;
  readonly fields: readonly Field[];
  /** Bytes up to and with the empty line. */
  readonly size: number;
}

/** How the end of a body is found (RFC 9112 §6.3). */
export type Framing =
  | { readonly by: "none" }
  | { readonly by: "length"; readonly length: number }
  | { readonly by: "chunks" }
  | { readonly by: "close" };

/** A body that has arrived whole, or the number of bytes without which another look is useless. */
export type BodyRead =
  | {
      readonly whole: true;
      readonly body: Buffer;
      readonly size: number;
      readonly trailers: Field[];
    }
  | { readonly whole: false; readonly need: number; readonly body: Buffer };

/** The values of every field of this name, in order. */
export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields.filter(([n]) => n.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

/** The value of the one field of this name; undefined when it is missing, an error when it is doubled. */
export function valueOf(fields: readonly Field[], name: string): string | undefined {
  const values = valuesOf(fields, name);
  if (values.length > 1)
    throw new Error(`${name} came ${values.length} times: ${values.join(" | ")}`);
  return values[0];
}

const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** The fields that must travel from end to end (RFC 9110 §7.6.1): written anew here, not taken from the code under test. */
export function endToEnd(fields: readonly Field[]): Field[] {
  const named = valuesOf(fields, "connection").flatMap((value) =>
    value.split(",").map((name) => name.trim().toLowerCase()),
  );
  const hop = new Set([...HOP_BY_HOP, ...named]);
  return fields.filter(([name]) => !hop.has(name.toLowerCase()));
}

/** The head at the start of `bytes`; undefined while its empty line has not come. */
export function parseHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const [line = "", ...rest] = bytes.toString("latin1", 0, end).split("\r\n");
  return { line, fields: rest.map((text) => parseField(text)), size: end + 4 };
}

function parseField(text: string): Field {
  const colon = text.indexOf(":");
  return [text.slice(0, colon), text.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, "")];
}

/** The framing that the fields of a request announce. */
export function requestFraming(fields: readonly Field[]): Framing {
  if (valuesOf(fields, "transfer-encoding").length > 0) return { by: "chunks" };
  const length = valueOf(fields, "content-length");
  return length === undefined ? { by: "none" } : { by: "length", length: Number(length) };
}

/** The framing of the answer to a request with `method`. */
export function answerFraming(method: string, status: number, fields: readonly Field[]): Framing {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return { by: "none" };
  if (valuesOf(fields, "transfer-encoding").length > 0) return { by: "chunks" };
  const length = valueOf(fields, "content-length");
  return length === undefined ? { by: "close" } : { by: "length", length: Number(length) };
}

/** The body at the start of `bytes`. A body that ends with the connection is never whole here. */
export function readBody(bytes: Buffer, framing: Framing): BodyRead {
  switch (framing.by) {
    case "none":
      return { whole: true, body: Buffer.alloc(0), size: 0, trailers: [] };
    case "length":
      return bytes.length < framing.length
        ? { whole: false, need: framing.length, body: bytes }
        : {
            whole: true,
            body: bytes.subarray(0, framing.length),
            size: framing.length,
            trailers: [],
          };
    case "chunks":
      return readChunks(bytes);
    case "close":
      return { whole: false, need: bytes.length + 1, body: bytes };
  }
}

function readChunks(bytes: Buffer): BodyRead {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return cut(parts, bytes.length + 1);
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error(`no chunk size at ${at}`);
    const start = lineEnd + 2;
    if (size === 0) {
      const trailers: Field[] = [];
      let line = start;
      for (;;) {
        const end = bytes.indexOf("\r\n", line);
        if (end === -1) return cut(parts, bytes.length + 1);
        if (end === line) {
          return { whole: true, body: Buffer.concat(parts), size: end + 2, trailers };
        }
        trailers.push(parseField(bytes.toString("latin1", line, end)));
        line = end + 2;
      }
    }
    if (bytes.length < start + size + 2) return cut(parts, start + size + 2);
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}

function cut(parts: readonly Buffer[], need: number): BodyRead {
  return { whole: false, need, body: Buffer.concat(parts) };
}
