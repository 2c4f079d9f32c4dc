import { verify } from "./messages.js";
import { type Proxy, type ProxyOptions, startProxy } from "./proxy.js";
import { rawRequest, type Reply } from "./raw-client.js";
import { type Script, startUpstream, type Upstream } from "./upstream.js";

/** What came of one request. */
export interface Passage {
  readonly reply: Reply;
  readonly upstream: Upstream;
  readonly proxy: Proxy;
}

/** Sends one request through a proxy of its own, strict unless told otherwise, to an upstream that answers with `script`. */
export async function through(
  script: Script | string | Uint8Array,
  bytes: Uint8Array = verify(),
  options: ProxyOptions = {},
): Promise<Passage> {
  const upstream = await startUpstream(script);
  const proxy = await startProxy(upstream, options);
  return { reply: await rawRequest(proxy.url, bytes), upstream, proxy };
}
