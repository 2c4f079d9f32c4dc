import { isIP } from "node:net";

/**
 * Whether a Host field may name a listener at this address. A browser that a foreign page has sent to a loopback address under a name of that page's
 * own (DNS rebinding) says that name here; an address and `localhost` are nobody's own. Only a loopback listener is held to it: elsewhere it may
 * have any name.
 */
export function isOwnName(listening: string, host: string | undefined): boolean {
  if (!isLoopback(listening)) return true;
  const name = (host ?? "localhost")
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase();
  return name === "localhost" || name === listening.toLowerCase() || isIP(name) !== 0;
}

function isLoopback(address: string): boolean {
  return address === "localhost" || address === "::1" || address.startsWith("127.");
}
