import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { closeLater } from "./closing.js";

/** Where the system's Chromium is; undefined where there is none. `CHROMIUM` names another one. */
export const CHROMIUM: string | undefined = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== undefined && existsSync(path));

/** Opens `url` in a browser of its own, until the end of the test. */
export async function openPage(
  url: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; problems: string[]; foreign: string[] }> {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM ?? "",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  closeLater(async () => browser.close());
  const page = await browser.newPage({ locale: "en-GB", ...options });
  const problems: string[] = [];
  const foreign: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) foreign.push(request.url());
  });
  await page.goto(url);
  return { page, problems, foreign };
}
