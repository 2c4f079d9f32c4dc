import type { Verdict } from "../../../src/mask/verdict.js";

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
type JsonObject = { readonly [name: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const member = (value: Json | undefined, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

function truthy(value: Json | undefined): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object") return Object.keys(value).length > 0;
  return Boolean(value);
}

const firstText = (...candidates: readonly (Json | undefined)[]): string | undefined =>
  candidates.find((value): value is string => typeof value === "string" && value !== "");

/** The verdict that the design's table gives on a document, reached by parsing all of it. */
export function oracle(json: string): Verdict {
  const answer = JSON.parse(json) as Json;
  if (!isObject(answer)) return { verdict: "unknown", why: "not-an-object" };
  const failureClass = member(answer, "_ng_failure_class");
  const holding: readonly (readonly [string, boolean])[] = [
    ["mask_sample", truthy(member(answer, "mask_sample"))],
    [
      "instance_config.mask_sample",
      truthy(member(member(answer, "instance_config"), "mask_sample")),
    ],
    ["_ng_failure_class", failureClass !== undefined && failureClass !== null],
    ["_ng_no_persist", truthy(member(answer, "_ng_no_persist"))],
  ];
  const signals = holding.filter(([, holds]) => holds).map(([name]) => name);
  const [signal] = signals;
  if (signal === undefined) return { verdict: "scored" };
  const kind = firstText(member(answer, "failure_kind"), failureClass) ?? "unspecified";
  const reason =
    firstText(
      member(answer, "failure_reason"),
      member(answer, "_ng_failure_judge_error"),
      member(answer, "_ng_failure_message"),
      member(member(answer, "judge_response"), "error"),
      member(answer, "judge_generation_error"),
      member(answer, "error"),
    ) ?? "The server gave no reason.";
  return { verdict: "masked", signal, signals, kind, reason };
}
