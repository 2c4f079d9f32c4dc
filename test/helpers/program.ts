import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CliOptions, type Running, startCli } from "./cli.js";
import { closeLater } from "./closing.js";
import type { RouteMode } from "./modes.js";

/** A running program that listens. */
export interface Program extends Running {
  readonly url: string;
}

/** The built program, whose one route is in this mode; `more` is YAML beside the routes. */
export async function startProgramInMode(
  mode: RouteMode,
  upstream: { readonly url: string },
  more = "",
  options: CliOptions = {},
): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-test-"));
  closeLater(() => rmSync(folder, { recursive: true }));
  const config = join(folder, "maskgate.yaml");
  writeFileSync(
    config,
    `upstream: ${upstream.url}\nlisten: {port: 0}\nroutes: [{name: all, mode: ${mode}}]\n${more}\n`,
  );
  const running = startCli(["serve", "--config", config], options);
  const { url } = await running.event("listening");
  return Object.assign(running, { url: String(url) });
}
