import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { detectMask, type Verdict } from "../../../src/mask/verdict.js";
import { cut, judge } from "./drive.js";

const folder = new URL("../../fixtures/answers/", import.meta.url);

interface Row {
  readonly exchange: string;
  readonly verdict: string;
  readonly signals: readonly string[];
  readonly kind: string;
}

const rows: readonly Row[] = readFileSync(new URL("expected.tsv", folder), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => {
    const [exchange = "", , verdict = "", signals = "", kind = ""] = line.split("\t");
    return { exchange, verdict, signals: signals === "-" ? [] : signals.split(","), kind };
  });

function readBody(exchange: string): Buffer {
  const recorded = JSON.parse(readFileSync(new URL(`${exchange}.json`, folder), "utf8")) as {
    readonly response: { readonly bodyText: string };
  };
  return Buffer.from(recorded.response.bodyText);
}

function summary(verdict: Verdict): Pick<Row, "verdict" | "signals" | "kind"> {
  return verdict.verdict === "masked"
    ? { verdict: "masked", signals: verdict.signals, kind: verdict.kind }
    : { verdict: verdict.verdict, signals: [], kind: "-" };
}

function expectedOf({ verdict, signals, kind }: Row): ReturnType<typeof summary> {
  if (verdict !== "masked") return { verdict, signals, kind: "-" };
  return { verdict, signals, kind: kind === "-" ? "unspecified" : kind };
}

describe("recorded answers of real servers", () => {
  it("are all there", () => {
    expect(rows).toHaveLength(81);
  });

  it.each(rows)("$exchange is $verdict", (row) => {
    expect(summary(detectMask(readBody(row.exchange)))).toEqual(expectedOf(row));
  });

  it.each(
    rows.filter(({ exchange }) =>
      /-verify-judge500|instance_config|gdpval|row-fields/.test(exchange),
    ),
  )("$exchange is judged alike for every size of chunk", ({ exchange }) => {
    const body = readBody(exchange);
    const whole = detectMask(body);
    for (const size of [1, 2, 3, 7, 16, 61, 1000]) expect(judge(cut(body, size))).toEqual(whole);
  });

  it.each([
    [
      "equivalence_llm_judge-verify-judge-missing-v0.5.1",
      /^ConfigKeyError: Missing key policy_model\n/,
    ],
    ["gdpval-verify-ngclass-only-reference_missing", /^reference_missing$/],
    ["nan_server-verify-masked", /^container was OOM-killed\nline2\r\nX-Evil: 1 ☃ ü$/],
    ["nemo_user_sim-verify-0", /^ModuleNotFoundError: No module named 'usersim'$/],
    ["osworld-verify-masked-no-session", /^The server gave no reason\.$/],
  ])("%s gives the reason in the server's words", (exchange, reason) => {
    expect(detectMask(readBody(exchange))).toMatchObject({
      verdict: "masked",
      reason: expect.stringMatching(reason),
    });
  });
});
