/** Whether a byte is JSON white space (RFC 8259 section 2): space, tab, line feed, carriage return. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
