import { freePort, startProgram, untilListening } from "../../contract/programs.js";
import { ensureToxiproxy } from "./install.js";

/** What toxiproxy does to one direction of each connection (its README lists the types and their attributes). */
export interface Toxic {
  readonly type: string;
  readonly stream: "upstream" | "downstream";
  readonly attributes: Readonly<Record<string, number>>;
}

/** One listener of toxiproxy before an upstream. */
export interface Link {
  readonly url: string;
  /** Closes it: a connection is refused from then on. */
  disable(): Promise<void>;
  /** Opens it again on the same port. */
  enable(): Promise<void>;
}

/** A toxiproxy that runs. */
export interface Toxiproxy {
  link(upstream: string, toxics: readonly Toxic[]): Promise<Link>;
  stop(): Promise<void>;
}

/** Starts one, which listens for orders on a free port of loopback. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const command = await ensureToxiproxy();
  const port = await freePort();
  const args = ["-host", "127.0.0.1", "-port", String(port)];
  const program = startProgram({
    name: "toxiproxy",
    command,
    args,
    env: { ...process.env, LOG_LEVEL: "error" },
  });
  await untilListening(program, port);
  const post = async (path: string, order: object): Promise<unknown> => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      body: JSON.stringify(order),
    });
    if (!reply.ok) throw new Error(`toxiproxy: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  let links = 0;
  return {
    link: async (upstream, toxics) => {
      const name = `link-${(links += 1)}`;
      const host = new URL(upstream).host;
      const asked = { name, listen: "127.0.0.1:0", upstream: host, enabled: true };
      const { listen } = (await post("/proxies", asked)) as { listen: string };
      for (const toxic of toxics) await post(`/proxies/${name}/toxics`, toxic);
      const enable = async (enabled: boolean) => {
        await post(`/proxies/${name}`, { listen, upstream: host, enabled });
      };
      return {
        url: `http://${listen}`,
        disable: () => enable(false),
        enable: () => enable(true),
      };
    },
    stop: () => program.stop(),
  };
}
