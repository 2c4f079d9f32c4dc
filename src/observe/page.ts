import { readFile } from "node:fs/promises";

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly name: string;
}

/** The files of the page by the path they are asked for. */
export const PAGE_FILES: ReadonlyMap<string, PageFile> = new Map([
  ["/", { name: "index.html", type: "text/html; charset=utf-8" }],
  ["/page.css", { name: "page.css", type: "text/css; charset=utf-8" }],
  ...["page", "charts", "dom", "feed", "history", "tables", "texts"].map(
    (name): [string, PageFile] => [
      `/${name}.js`,
      { name: `${name}.js`, type: "text/javascript; charset=utf-8" },
    ],
  ),
]);

const FOLDER = new URL("./page/", import.meta.url);

/** The bytes of a file of the page. */
export async function readPageFile({ name }: PageFile): Promise<Buffer> {
  return readFile(new URL(name, FOLDER));
}
