import { Agent, request } from "undici";
import type { Status } from "../../src/observe/status.js";
import { closeLater } from "./closing.js";

/** What the operators' listener said. */
export interface AdminReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A proxy, as far as operators see it. */
interface Watched {
  readonly gate: { readonly adminUrl: string | undefined };
}

/** Asks the operators' listener of a proxy. */
export async function ask(
  proxy: Watched,
  path: string,
  options: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<AdminReply> {
  const { adminUrl } = proxy.gate;
  if (adminUrl === undefined) throw new Error("nothing listens for operators");
  const dispatcher = new Agent();
  closeLater(async () => dispatcher.destroy());
  const { method = "GET", headers = {} } = options;
  const {
    statusCode,
    headers: got,
    body,
  } = await request(`${adminUrl}${path}`, {
    method: method as "GET",
    headers,
    dispatcher,
  });
  return { status: statusCode, headers: got, text: await body.text() };
}

/** What `/status` says. */
export async function askStatus(proxy: Watched): Promise<Status> {
  return JSON.parse((await ask(proxy, "/status")).text) as Status;
}

/** maskgate's own samples of `/metrics`, and those of the event loop: name and labels, in the order of their names, to value. */
export async function scrape(proxy: Watched): Promise<ReadonlyMap<string, number>> {
  const { text } = await ask(proxy, "/metrics");
  const lines = text.split("\n").filter((line) => /^(?:maskgate|nodejs_eventloop)_/.test(line));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      const [, name = "", labels = ""] = /^([^{]+)(?:\{(.*)\})?$/.exec(line.slice(0, space)) ?? [];
      const sorted = (labels.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? [])
        .filter((label) => !label.endsWith('=""'))
        .toSorted()
        .join(",");
      return [sorted === "" ? name : `${name}{${sorted}}`, Number(line.slice(space + 1))];
    }),
  );
}
