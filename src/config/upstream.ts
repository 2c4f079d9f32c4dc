import { ProxyError } from "../errors.js";

/** Where the Gym-compatible server is, as Node's HTTP client wants it. */
export interface UpstreamAddress {
  /** As the user wrote it, without a trailing slash. */
  readonly url: string;
  readonly secure: boolean;
  /** The authorities that its certificate may come from, as PEM; left out: those that Node knows. */
  readonly ca?: string;
  readonly connect:
    | { readonly host: string; readonly port: number }
    | { readonly socketPath: string };
}

const FORMS = "http://HOST:PORT, https://HOST:PORT or unix:/PATH/TO.sock";

/**
 * The address in `text`.
 *
 * @throws {ProxyError} CONFIG_INVALID for anything that is not one of the three forms: a path, a query or credentials in the URL
 * would have to be put into every request, and maskgate changes no request.
 */
export function parseUpstream(text: string): UpstreamAddress {
  if (text.startsWith("unix:")) {
    const socketPath = text.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    if (!socketPath.startsWith("/"))
      throw invalid(text, "the socket's path must begin with a slash");
    return { url: `unix:${socketPath}`, secure: false, connect: { socketPath } };
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw invalid(text, `it must be ${FORMS}`, withScheme(text));
  }
  if (url.username !== "" || url.password !== "")
    throw invalid(url.host, "it must carry no credentials");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
    throw invalid(text, `it must have no path or query; use ${url.origin}`);
  }
  const secure = url.protocol === "https:";
  return {
    url: url.origin,
    secure,
    connect: {
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
    },
  };
}

/** `localhost:9100` is an absolute URL too, of a scheme called localhost. */
function withScheme(text: string): string | undefined {
  const url = `http://${text}`;
  return /^[\w.-]+:\d+$|^\[[\da-f:.]+\]:\d+$/i.test(text) && URL.canParse(url) ? url : undefined;
}

function invalid(text: string, what: string, meant?: string): ProxyError {
  const hint = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return new ProxyError("CONFIG_INVALID", `upstream: ${what}, found "${text}"${hint}`);
}
