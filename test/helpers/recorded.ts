import { readdirSync, readFileSync } from "node:fs";
import type { Field } from "./http-bytes.js";
import { startUpstream, type Upstream } from "./upstream.js";

/** An exchange with a real nemo-gym server, as recorded in test/fixtures/answers. */
export interface Recorded {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: readonly Field[];
    readonly body: string | null;
  };
  readonly response: {
    readonly interim?: readonly string[];
    readonly version: string;
    readonly status: number;
    readonly reason: string;
    readonly headers: readonly Field[];
    readonly bodyText: string;
  };
}

/** A row of expected.tsv: what a recorded /verify answer means. */
export interface Expected {
  readonly name: string;
  readonly verdict: string;
  readonly signals: readonly string[];
  readonly kind: string;
}

const folder = new URL("../fixtures/answers/", import.meta.url);

/** Every recorded exchange, by name. */
export function recordedExchanges(): Recorded[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => ({
      ...(JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Omit<Recorded, "name">),
      name: file.slice(0, -".json".length),
    }));
}

/** The rows of expected.tsv, by the name of the exchange. */
export function expectedVerdicts(): Map<string, Expected> {
  const [, ...rows] = readFileSync(new URL("expected.tsv", folder), "utf8").trim().split("\n");
  return new Map(
    rows.map((row) => {
      const [name = "", , verdict = "", signals = "", kind = ""] = row.split("\t");
      return [name, { name, verdict, signals: signals === "-" ? [] : signals.split(","), kind }];
    }),
  );
}

function message(line: string, headers: readonly Field[], body: string): Buffer {
  const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.concat([Buffer.from(`${line}\r\n${fields}\r\n`, "latin1"), Buffer.from(body)]);
}

/** The request as the client sent it. */
export function requestBytes({ request }: Recorded): Buffer {
  return message(`${request.method} ${request.path} HTTP/1.1`, request.headers, request.body ?? "");
}

/** The answer as the server sent it, interim answers first. */
export function answerBytes({ response }: Recorded): Buffer {
  const { interim = [], version, status, reason, headers, bodyText } = response;
  return Buffer.concat([
    ...interim.map((line) => Buffer.from(`${line}\r\n\r\n`)),
    message(`${version} ${status} ${reason}`, headers, bodyText),
  ]);
}

/** An upstream that answers every request with the recorded bytes. */
export async function replay(recorded: Recorded): Promise<Upstream> {
  return startUpstream(answerBytes(recorded));
}
