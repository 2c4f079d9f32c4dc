import type { Client } from "undici";
import type { Status } from "../observe/status.js";

/**
 * What the operators' listener at `url` says.
 *
 * @throws an error whose message is a sentence for the user.
 */
export async function askStatus(
  client: Client,
  url: string,
  token: string,
  signal?: AbortSignal,
): Promise<Status> {
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  let text: string;
  let statusCode: number;
  try {
    const answer = await client.request({ method: "GET", path: "/status", headers, signal });
    ({ statusCode } = answer);
    text = await answer.body.text();
  } catch (error) {
    const { code, message, name } = error as NodeJS.ErrnoException;
    if (name === "HTTPParserError") throw new Error(foreign(url), { cause: error });
    const says = `${url} does not answer (${code ?? message}); is it served with --admin-port?`;
    throw new Error(says, { cause: error });
  }
  if (statusCode === 401) {
    const says =
      token === ""
        ? `${url} asks for a token; set MASKGATE_ADMIN_TOKEN`
        : `${url} refuses the token; MASKGATE_ADMIN_TOKEN is not the one that it was started with`;
    throw new Error(says);
  }
  if (statusCode !== 200) {
    throw new Error(`${url}/status answers ${statusCode}; is this the --admin-port?`);
  }
  const status = readStatus(text);
  if (status === undefined) throw new Error(foreign(url));
  return status;
}

function foreign(url: string): string {
  return `${url} is no maskgate listener for operators; is this the --admin-port?`;
}

/** Anything may listen there, and answer anything. */
function readStatus(text: string): Status | undefined {
  let value: Partial<Status> | null;
  try {
    value = JSON.parse(text) as Partial<Status> | null;
  } catch {
    return undefined;
  }
  const isOurs =
    typeof value?.version === "string" &&
    Array.isArray(value.routes) &&
    Array.isArray(value.recent) &&
    typeof value.upstream === "string";
  return isOurs ? (value as Status) : undefined;
}
