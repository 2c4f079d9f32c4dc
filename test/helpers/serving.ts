import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, startCli } from "./cli.js";
import { closeLater } from "./closing.js";
import type { LogLine } from "./proxy.js";

/** How people and programs change a file: in its place, by a new one over it, or as Kubernetes does with a ConfigMap. */
export type Way = "in place" | "by rename" | "by symbolic link";

/** The program with a configuration file. */
export interface Serving {
  readonly program: Running;
  readonly url: string;
  readonly file: string;
  /** Gives the file another content. */
  write(this: void, text: string, way?: Way): void;
  /** Gives it another content, and the line that says what came of it: the next of this event. */
  change(this: void, text: string, event: string, way?: Way): Promise<LogLine>;
  /** The lines of this event so far. */
  logged(this: void, event: string): LogLine[];
  /** The `n`-th line of this event (from 1). */
  nth(this: void, event: string, n: number): Promise<LogLine>;
}

/** Starts `serve --config` with a file of this content, in a folder of its own. */
export async function startServing(text: string): Promise<Serving> {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  closeLater(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "maskgate.yaml");
  writeFileSync(file, text);
  const program = startCli(["serve", "--config", file]);
  const listening = await program.event("listening");
  let swaps = 0;
  const logged = (event: string): LogLine[] =>
    program.logs.filter((line) => line["event"] === event);
  const nth = async (event: string, n: number): Promise<LogLine> =>
    program.until((logs) => logs.filter((line) => line["event"] === event)[n - 1], event);
  const write = (content: string, way: Way = "in place"): void => {
    if (way === "in place") {
      writeFileSync(file, content);
    } else if (way === "by rename") {
      writeFileSync(`${file}.new`, content);
      renameSync(`${file}.new`, file);
    } else {
      swaps += 1;
      mkdirSync(join(folder, `..${swaps}`));
      writeFileSync(join(folder, `..${swaps}`, "maskgate.yaml"), content);
      link(`..${swaps}`, join(folder, "..data"));
      if (!lstatSync(file).isSymbolicLink()) link(join("..data", "maskgate.yaml"), file);
    }
  };
  return {
    program,
    url: String(listening["url"]),
    file,
    write,
    logged,
    nth,
    change: async (content, event, way) => {
      const before = logged(event).length;
      write(content, way);
      return nth(event, before + 1);
    },
  };
}

/** Makes `path` a link to `target` in one step, as the kubelet does. */
function link(target: string, path: string): void {
  const passing = `${path}_tmp`;
  if (existsSync(passing)) rmSync(passing);
  symlinkSync(target, passing);
  renameSync(passing, path);
}
