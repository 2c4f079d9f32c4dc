import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { CHROMIUM, openPage } from "../helpers/chromium.js";
import { answer, maskedFor, MASKED, request, SCORED } from "../helpers/messages.js";
import { type Proxy, startConfigured } from "../helpers/proxy.js";
import { rawRequest } from "../helpers/raw-client.js";
import { startUpstream } from "../helpers/upstream.js";

const yaml = (admin = "port: 0", minAnswers = 10): string => `
admin: {${admin}}
alert: {minAnswers: ${minAnswers}}
routes:
  - {name: verifiers, mode: strict, match: {pathPrefix: /v}, ramp: {percentage: 50, salt: s}}
  - {name: look, mode: observe, match: {pathPrefix: /look}}
  - {name: gym, mode: passthrough}
`;

const HOSTILE = '<img src=x onerror="document.title=1">';

async function started(config = yaml()): Promise<Proxy> {
  const upstream = await startUpstream(async ({ whole, write }) => {
    const { body } = await whole;
    write(answer(body));
  });
  return startConfigured(upstream, config);
}

/** Sends verify requests one after the other, each for a task of its own; how many were answered with 503. */
async function send(proxy: Proxy, prefix: string, bodies: readonly string[]): Promise<number> {
  let translated = 0;
  for (const [n, body] of bodies.entries()) {
    const target = `${prefix}/ng-rollout/task${n}-0/verify`;
    const { status } = await rawRequest(proxy.url, request("POST", target, { body }));
    if (status === 503) translated += 1;
  }
  return translated;
}

const times = (n: number, body: string): string[] => Array.from({ length: n }, () => body);

/** The texts of a table's rows, once it has `n` of them. */
async function rows(page: Page, table: string, n: number): Promise<string[][]> {
  await page
    .locator(`${table} tbody tr`)
    .nth(n - 1)
    .waitFor();
  const all = await page.locator(`${table} tbody tr`).all();
  return Promise.all(all.map(async (row) => row.locator("th, td").allInnerTexts()));
}

async function seen(page: Page, id: string, text: string): Promise<void> {
  await page.locator(`#${id}`, { hasText: new RegExp(`^${text}$`) }).waitFor();
}

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined)
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

// chromium-capability-missing: without a Chromium on this machine these tests are skipped (apt-get install chromium).
describe.skipIf(CHROMIUM === undefined)("the operators' page", { timeout: 60_000 }, () => {
  it("shows the numbers of the traffic that was sent, as it comes", async () => {
    const proxy = await started(yaml("port: 0", 1000));
    const { page, problems, foreign } = await openPage(proxy.gate.adminUrl ?? "");
    await seen(page, "state", "no answers yet");
    await seen(page, "about", ".*, up [0-9]+ s");
    await seen(page, "answers", "0");
    await shoot(page, "empty");

    const other = maskedFor(HOSTILE, { failure_kind: "made_up" });
    const translated = await send(proxy, "/v", [...times(9, MASKED), other, ...times(30, SCORED)]);
    await send(proxy, "/look", [...times(3, MASKED), ...times(20, SCORED)]);
    await send(proxy, "", times(2, MASKED));
    expect(translated).toBeGreaterThan(0);
    expect(translated).toBeLessThan(10);

    await seen(page, "answers", "63");
    await seen(page, "masked", "13");
    await seen(page, "translated", String(translated));
    await seen(page, "in-flight", "0");
    expect(await rows(page, "#routes", 3)).toEqual([
      [
        "verifiers",
        "strict",
        "25 % (10 of 40)",
        "50 % by task",
        "40",
        "40",
        "10",
        String(translated),
        `${10 - translated}\nheld back by ramp: ${10 - translated}`,
        "0",
      ],
      [
        "look",
        "observe",
        "13 % (3 of 23)",
        "–",
        "23",
        "23",
        "3",
        "0",
        "3\nroute is not strict: 3",
        "0",
      ],
      ["gym", "passthrough", "not looked at", "–", "2", "0", "0", "0", "0", "0"],
    ]);
    const recent = await rows(page, "#recent", 13);
    expect(recent).toHaveLength(13);
    expect(recent[0]?.slice(1)).toEqual([
      "look",
      "judge_failed",
      "the judge is gone",
      "the answer (route is not strict)",
      "task2",
      "/look/ng-rollout/task2-0/verify",
    ]);
    expect(recent.filter((row) => row[4] === "503 (error)")).toHaveLength(translated);
    expect(recent.map((row) => row[3])).toContain(HOSTILE);

    await seen(
      page,
      "share-legend",
      ".*verifiers \\(strict\\): 10 of 40.*look \\(observe\\): 3 of 23.*",
    );
    await seen(page, "kinds-legend", ".*judge_failed: 12.*other: 1.*");
    const label = await page.locator("#share-chart svg").getAttribute("aria-label");
    expect(label).toBe("Masked share: verifiers (strict) 10 of 40; look (observe) 3 of 23.");
    await page.locator("#filter").selectOption("translate");
    await page.locator("#recent-count", { hasText: `the last ${translated}` }).waitFor();
    expect(await rows(page, "#recent", translated)).toHaveLength(translated);
    await page.locator("#filter").selectOption("");
    const ticks = await page.locator("#share-chart text[text-anchor=middle]").allTextContents();
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    for (const tick of ticks) expect(Number(tick.slice(-1)) % 2).toBe(0);
    await shoot(page, "quiet");
    expect([problems, foreign]).toEqual([[], []]);
  });

  it("shows a storm in words and in its title, and that it is over", async () => {
    const proxy = await started();
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    const cancelled = maskedFor("shut down", { failure_kind: "cancelled" });
    await send(proxy, "/v", [...times(4, SCORED), ...times(20, MASKED), ...times(9, cancelled)]);
    await seen(page, "state", "MASK STORM: verifiers");
    expect(await page.title()).toBe("(!) MASK STORM: verifiers");
    expect((await rows(page, "#routes", 3))[0]?.[2]).toBe("storm: 88 % (29 of 33)");
    await shoot(page, "storm");
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot(page, "storm-dark");
    await send(proxy, "/v", times(60, SCORED));
    await seen(page, "state", "calm");
    expect(await page.title()).toBe("maskgate");
  });

  it("fits a phone, and is used by keyboard", async () => {
    const proxy = await started(yaml("port: 0", 1000));
    await send(proxy, "/v", [...times(9, MASKED), ...times(20, SCORED)]);
    const { page } = await openPage(proxy.gate.adminUrl ?? "", {
      viewport: { width: 390, height: 844 },
      deviceScaleFactor: 2,
      isMobile: true,
      colorScheme: "dark",
    });
    await seen(page, "answers", "29");
    await page.locator("#share-chart svg").waitFor();
    const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBe(0);
    const stops: unknown[] = [];
    for (let n = 0; n < 8; n++) {
      await page.keyboard.press("Tab");
      stops.push(await page.evaluate("document.activeElement.tagName"));
    }
    expect(stops).toEqual(["DIV", "INPUT", "SUMMARY", "SUMMARY", "SELECT", "DIV", "BODY", "DIV"]);
    await page.locator("summary").first().focus();
    await page.keyboard.press("Enter");
    expect((await rows(page, "#share-table", 1))[0]?.slice(1)).toEqual([
      "verifiers (strict)",
      "29",
      "9",
      "31 %",
    ]);
    await shoot(page, "phone-dark");
  });

  it("asks for the token, and keeps what it guards from who has none", async () => {
    const proxy = await started(yaml("port: 0, token: s3cret-token"));
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    await page.locator("#token-field").fill("not-the-token");
    await page.keyboard.press("Enter");
    await page.locator("#token-wrong", { hasText: "That is not the token." }).waitFor();
    expect(await page.locator("#view").isVisible()).toBe(false);
    expect(await page.locator("main #token-field").count()).toBe(1);
    await shoot(page, "token");
    await page.locator("#token-field").fill("s3cret-token");
    await page.keyboard.press("Enter");
    await seen(page, "state", "no answers yet");
    expect(page.url()).not.toContain("s3cret");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
  });

  it("says since when the connection is gone, and shows no storm as if it still raged", async () => {
    const proxy = await started();
    await send(proxy, "/v", times(20, MASKED));
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    await seen(page, "state", "MASK STORM: verifiers");
    const colour = async (): Promise<unknown> =>
      page.evaluate("getComputedStyle(document.querySelector('tr.storm th')).color");
    const live = await colour();
    await page.context().setOffline(true);
    await page.evaluate("location.origin");
    await proxy.close();
    await seen(page, "state", "no connection since \\d\\d:\\d\\d:\\d\\d; the numbers are old");
    expect(await colour()).not.toBe(live);
    expect(await page.title()).toBe("maskgate");
  });

  it("leaves what was selected as it is when new masked answers come", async () => {
    const proxy = await started(yaml("port: 0", 1000));
    await send(proxy, "/look", [maskedFor("the first one")]);
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    await rows(page, "#recent", 1);
    await page.evaluate(
      "getSelection().selectAllChildren(document.querySelector('#recent td.text'))",
    );
    await send(proxy, "/look", [maskedFor("the second one"), maskedFor("the third one")]);
    const all = await rows(page, "#recent", 3);
    expect(all.map((row) => row[3])).toEqual(["the third one", "the second one", "the first one"]);
    expect(await page.evaluate("String(getSelection())")).toBe("the first one");
    await page.locator("#filter").selectOption("translate");
    await page.locator("#recent-count", { hasText: "none of these" }).waitFor();
    await page.locator("#filter").selectOption("pass");
    expect((await rows(page, "#recent", 3)).map((row) => row[3])[2]).toBe("the first one");
  });

  it("names its parts for who does not see them, and hides nothing in tooltips", async () => {
    const proxy = await started(yaml("port: 0", 1000));
    await rawRequest(proxy.url, request("POST", "/look/verify", { body: MASKED }));
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    await rows(page, "#recent", 1);
    const names = ["Routes", "Last masked answers"];
    for (const name of names) await page.getByRole("table", { name, exact: true }).waitFor();
    for (const details of await page.locator("#view > section > details > summary").all()) {
      await details.click();
    }
    for (const name of ["Masked share by time and route", "Masked answers by time and kind"]) {
      await page.getByRole("table", { name }).waitFor();
    }
    for (const name of ["Masked share by route", "Masked answers by kind"]) {
      await page.getByRole("figure", { name }).waitFor();
    }
    const regions = await page.getByRole("region").all();
    const ids = await Promise.all(
      regions.map(async (region) => region.getAttribute("aria-labelledby")),
    );
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(await page.locator("[title]").count()).toBe(0);
    const task = page.locator("#recent details");
    expect(await task.innerText()).toMatch(/^[0-9a-f]{12}…$/);
    await task.locator("summary").click();
    expect(await task.innerText()).toMatch(/[0-9a-f]{64}$/);
  });

  it("keeps the colours of its legend where the system forces its own", async () => {
    const proxy = await started(yaml("port: 0", 1000));
    await send(proxy, "/look", [MASKED]);
    const { page } = await openPage(proxy.gate.adminUrl ?? "");
    const mark = page.locator("#kinds-legend i");
    await mark.waitFor();
    const colour = async (): Promise<unknown> =>
      page.evaluate("getComputedStyle(document.querySelector('#kinds-legend i')).backgroundColor");
    const own = await colour();
    await page.emulateMedia({ forcedColors: "active" });
    expect(await colour()).toBe(own);
  });
});
