import { printable } from "../printable.js";
import type { Explanation, MadeReply, RouteEffect } from "./explain.js";

const SHOWN_BODY = 2000;

/** The explanation for people, a line each, fit for a terminal. */
export function explanationLines(explanation: Explanation): string[] {
  const { routes } = explanation;
  return [
    ...verdictLines(explanation),
    ...routes.flatMap((effect) => ["", ...effectLines(effect)]),
  ].map(printable);
}

const UNKNOWN = {
  "not-an-object": "no JSON object",
  "not-utf-8": "text in UTF-16, UTF-32 or EBCDIC, which nobody could check",
  "too-long": "a text or number of over 64 KiB under a signal of a route, which nobody could check",
} as const;

function verdictLines({ verdict, places, bytes }: Explanation): string[] {
  if (verdict.verdict === "scored") {
    return [`scored: none of the signals holds in these ${bytes} bytes`];
  }
  if (verdict.verdict === "unknown") {
    return [`unknown: ${UNKNOWN[verdict.why]}`];
  }
  return [
    `masked: ${verdict.kind}`,
    `  reason: ${verdict.reason.replace(/\s+/g, " ").trim()}`,
    ...places.map(
      ({ member, start, end, text }) =>
        `  signal: ${member} is ${text}, bytes ${start} to ${end} of ${bytes}`,
    ),
  ];
}

function effectLines(effect: RouteEffect): string[] {
  const { route, mode, taken, decision, because, bucket, key, reply } = effect;
  const which =
    taken === true
      ? `route ${route} (${mode}), which this request takes`
      : `route ${route} (${mode})`;
  const ramp =
    key === undefined ? [] : [`  ramp: key ${key.slice(0, 40)}, bucket ${bucket} of 10000`];
  if (decision === "pass" || reply === undefined) {
    return [`${which}: passed on as it is (${because})`, ...ramp];
  }
  return [`${which}: the client gets`, ...ramp, ...replyLines(reply).map((line) => `  ${line}`)];
}

function replyLines({ status, phrase, headers, body }: MadeReply): string[] {
  const fields: string[] = [];
  for (let i = 0; i < headers.length; i += 2) fields.push(`${headers[i]}: ${headers[i + 1]}`);
  const cut = body.length > SHOWN_BODY ? `${body.slice(0, SHOWN_BODY)} …` : body;
  return [`HTTP/1.1 ${status} ${phrase}`, ...fields, "", ...cut.split("\n")];
}
