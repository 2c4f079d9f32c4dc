import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "../../src/config/resolve.js";
import { ask, scrape } from "../helpers/admin.js";
import { answer, MASKED, request, SCORED } from "../helpers/messages.js";
import { startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const folder = new URL("../../deploy/prometheus/", import.meta.url);

const YAML = `
admin: {port: 0}
audit: {file: /dev/null}
routes: [{name: v, mode: strict, match: {pathPrefix: /v}}, {name: look, mode: observe}]
`;

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

function expressions(): string[] {
  const rules = parse(readFileSync(new URL("alerts.yaml", folder), "utf8")) as Rules;
  const dashboard = JSON.parse(
    readFileSync(new URL("dashboard.json", folder), "utf8"),
  ) as Dashboard;
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
}

it("the alert rules and the dashboard ask only for metrics and labels that there are", async () => {
  const upstream = await startUpstream(async ({ received, whole, write, reset }) => {
    const { body } = await whole;
    if (received.target === "/step") reset();
    else write(answer(body));
  });
  const proxy = await startConfigured(upstream, YAML);
  for (const [target, body] of [
    ["/v/verify", MASKED],
    ["/v/step", "{}"],
    ["/verify", SCORED],
  ] as const) {
    await rawRequest(proxy.url, request("POST", target, { body }));
  }
  await proxy.nextLog("request", 3);
  const { text } = await ask(proxy, "/metrics");
  const names = new Set(text.match(/^\w+/gm));
  const labels = new Set([...text.matchAll(/(\w+)="/g)].map(([, label]) => label));
  const all = expressions();
  expect(all.length).toBeGreaterThan(20);
  const asked = all.flatMap((expr) => expr.match(/\b(?:maskgate|nodejs|process)_\w+/g) ?? []);
  expect(asked.filter((name) => !names.has(name))).toEqual([]);
  const page = readFileSync(new URL("../../docs/OBSERVE.md", folder), "utf8");
  const told: readonly string[] = page.match(/(?:maskgate|nodejs|process)_\w+/g) ?? [];
  expect(told.length).toBeGreaterThan(20);
  expect(told.filter((name) => !names.has(name) && !names.has(`${name}_count`))).toEqual([]);
  // Those that the page names are all that maskgate has.
  const own = [...names].filter((name) => name.startsWith("maskgate_"));
  expect(own.filter((name) => !told.includes(name.replace(/_(?:bucket|sum|count)$/, "")))).toEqual(
    [],
  );
  // Prometheus itself adds instance and job.
  const wanted = all
    .flatMap((expr) => [
      ...[...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */)),
      ...[...expr.matchAll(/(\w+)(?:=~?)"/g)].map(([, label = ""]) => label),
    ])
    .filter((label) => label !== "instance" && label !== "job");
  expect(wanted.filter((label) => !labels.has(label))).toEqual([]);
});

it("the configuration in docs/OBSERVE.md is valid", () => {
  const page = readFileSync(new URL("../../docs/OBSERVE.md", folder), "utf8");
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  expect(blocks).not.toHaveLength(0);
  for (const text of blocks) {
    expect(resolveConfig({}, { name: "OBSERVE.md", text })).not.toHaveProperty("problems");
  }
});

it("a route that nobody has asked for yet counts from 0", async () => {
  const proxy = await startConfigured(await startUpstream(answer("{}")), YAML);
  const samples = await scrape(proxy);
  for (const verdict of ["scored", "unknown"]) {
    const name = `maskgate_answers_total{decision="pass",mode="observe",route="look",verdict="${verdict}"}`;
    expect(samples.get(name)).toBe(0);
  }
  expect(
    samples.get(
      'maskgate_answers_total{decision="refuse",mode="strict",route="v",verdict="uninspectable"}',
    ),
  ).toBe(0);
});
