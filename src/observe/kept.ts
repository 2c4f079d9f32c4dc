/** The beginning of a text, for whoever keeps it: V8 keeps all of a text in memory for the sake of a slice of it. */
export function kept(text: string, most: number): string {
  return Buffer.from(text.slice(0, most), "utf16le").toString("utf16le");
}
