import { spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { connect, isIP } from "node:net";
import { vi } from "vitest";
import { closeLater } from "./closing.js";

/** Has a name mean these addresses, in this order, until the end of the test. */
export function nameMeans(name: string, ...addresses: readonly string[]): void {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const original = dns.lookup;
  const lookup = vi.spyOn(dns, "lookup").mockImplementation(((
    asked: string,
    options: dns.LookupAllOptions,
    done: (error: NodeJS.ErrnoException | null, all: dns.LookupAddress[]) => void,
  ) => {
    if (asked === name) process.nextTick(done, null, found);
    else original(asked, options, done);
  }) as unknown as typeof dns.lookup);
  closeLater(() => {
    lookup.mockRestore();
  });
}

/** More than a queue of one takes. */
const CALLERS = 8;

/** Listens, says on which port, and never looks at what comes. */
const DEAF = `require("net").createServer().listen({host: process.argv[1], port: 0, backlog: 1}, function () {
  require("fs").writeSync(1, String(this.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
})`;

/** A port of this address where a connection is neither taken nor refused, as on a host that is switched off. */
export async function silentPort(host: string): Promise<number> {
  const child = spawn(process.execPath, ["-e", DEAF, host], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const gone = once(child, "close");
  closeLater(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  const port = Number(said.toString());
  const callers = Array.from({ length: CALLERS }, () => connect(port, host));
  for (const caller of callers) caller.on("error", () => undefined);
  closeLater(() => {
    for (const caller of callers) caller.destroy();
  });
  // The queue takes the first ones, and is full.
  await once(callers[0]!, "connect");
  return port;
}
