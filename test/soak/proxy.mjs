import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A maskgate of its own, with a route for each mode, that tells of its state when asked. */
export async function startProxy(upstream, modes) {
  const folder = mkdtempSync(join(tmpdir(), "maskgate-soak-"));
  const config = join(folder, "maskgate.yaml");
  const routes = modes.map(
    (mode) => `  - {name: ${mode}, match: {pathPrefix: /${mode}}, mode: ${mode}}`,
  );
  writeFileSync(
    config,
    `upstream: ${upstream}\nlisten: {port: 0}\nholdMemoryBytes: 8000000\nlogLevel: info\nroutes:\n${routes.join("\n")}\n`,
  );
  const args = ["--expose-gc", "--import", here("probe.mjs"), here("../../bin/maskgate.js")];
  const child = spawn(process.execPath, [...args, "serve", "--config", config], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const lines = { levels: new Map(), waiting: [] };
  let rest = "";
  child.stderr.on("data", (data) => {
    const parts = (rest + data).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("{")) continue;
      const line = JSON.parse(part);
      if (line.level === "error" || line.level === "fatal") console.log("log:", part.slice(0, 400));
      lines.levels.set(line.event, (lines.levels.get(line.event) ?? 0) + 1);
      lines.waiting = lines.waiting.filter((look) => !look(line));
    }
  });
  const event = (name) =>
    new Promise((resolve) => {
      lines.waiting.push((line) => {
        if (line.event === name) resolve(line);
        return line.event === name;
      });
    });
  const { url } = await event("listening");
  const state = async () => {
    const told = event("soak");
    child.kill("SIGUSR2");
    return { ...(await told), ...descriptorsOf(child.pid) };
  };
  return { child, url, state, events: lines.levels, folder };
}

function descriptorsOf(pid) {
  const own = `/proc/${pid}/fd`;
  if (!existsSync(own)) return { descriptors: 0, sockets: 0, held: 0 };
  const names = readdirSync(own).flatMap((name) => {
    try {
      return [readlinkSync(`${own}/${name}`)];
    } catch {
      return [];
    }
  });
  return {
    descriptors: names.length,
    sockets: names.filter((name) => name.startsWith("socket:")).length,
    held: names.filter((name) => name.includes("maskgate-")).length,
  };
}
