// Bot detection: which user agents and bodies are refused in each mode.
import { describe, expect, test } from "bun:test";
import { fastestRun } from "../../../tests/support/eventually.ts";
import { createBotDetection } from "./bot-detection.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
const browsers = [
  CHROME,
  "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36",
  `${CHROME} Edg/131.0.0.0`,
];
const clients = [
  "curl/7.88.1",
  "Wget/1.20",
  `Bun/${Bun.version}`,
  "node",
  "undici",
  "axios/1.6.0",
  "python-requests/2.31.0",
  "Go-http-client/1.1",
  "okhttp/5.0.0",
  "Java/17.0.9",
  "PostmanRuntime/7.36.0",
  "berth-tests/1.0",
  "my-company-server/2.3.1",
  "MyApp/1.2 CFNetwork/1498 Darwin/23.6.0",
];
const bots = [
  "Googlebot/2.1 (+http://www.google.com/bot.html)",
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
  "Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko; compatible; Bytespider; spider-feedback@bytedance.com)",
  "facebookexternalhit/1.1",
  "Scrapy/2.11.0 (+https://scrapy.org)",
  "ia_archiver",
  "CCBot/2.0 (https://commoncrawl.org/faq/)",
  CHROME.replace("Chrome/", "HeadlessChrome/"),
  "HeadlessChrome/131",
  "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1",
  "Puppeteer",
  "Playwright/1.49",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Cypress/13.6.0 Chrome/114.0.0.0 Electron/25.8.4 Safari/537.36",
];
const none = ["", "   "];

const refused = async (botDetection: "off" | "standard" | "strict", headers: Record<string, string>) => {
  try {
    await createBotDetection({ botDetection }).refuseByHeaders(new Headers(headers));
    return false;
  } catch (error) {
    expect(error).toMatchObject({ status: 403, code: "BOT_DETECTED" });
    return true;
  }
};
const judge = (mode: "off" | "standard" | "strict", agents: readonly string[]) =>
  Promise.all(agents.map(async (agent) => [agent, await refused(mode, { "user-agent": agent })]));
const all = (agents: readonly string[], verdict: boolean) => agents.map((agent) => [agent, verdict]);

describe("standard", () => {
  test("accepts browsers and API clients", async () => {
    expect(await judge("standard", [...browsers, ...clients])).toEqual(all([...browsers, ...clients], false));
  });
  test("refuses crawlers, headless browsers, and requests without a user agent", async () => {
    expect(await judge("standard", [...bots, ...none])).toEqual(all([...bots, ...none], true));
    expect(await refused("standard", {})).toBe(true);
  });
  test("recognises a headless browser with a changed user agent", async () => {
    const brands = '"HeadlessChrome";v="131", "Chromium";v="131"';
    expect(await refused("standard", { "user-agent": CHROME, "sec-ch-ua": brands })).toBe(true);
    const ordinary = '"Google Chrome";v="131", "Chromium";v="131"';
    expect(await refused("standard", { "user-agent": CHROME, "sec-ch-ua": ordinary })).toBe(false);
  });
});

describe("strict", () => {
  test("accepts browsers only", async () => {
    expect(await judge("strict", browsers)).toEqual(all(browsers, false));
    const others = [...clients, ...bots, ...none];
    expect(await judge("strict", others)).toEqual(all(others, true));
  });
});

test("off accepts everything", async () => {
  expect(await judge("off", [...bots, ...none])).toEqual(all([...bots, ...none], false));
  createBotDetection({ botDetection: "off" }).refuseByBody({ website: "https://spam.example" });
});

test.each(["standard", "strict"] as const)("%s refuses a filled honeypot", (botDetection) => {
  const { refuseByBody } = createBotDetection({ botDetection });
  for (const website of ["https://spam.example", " ", 0, false, [], {}]) {
    expect(() => refuseByBody({ website })).toThrow("looks automated");
  }
  for (const body of [{}, { website: "" }, { website: null }, null, "website", [], undefined]) refuseByBody(body);
});

test("hostile user agents are classified quickly", async () => {
  await refused("standard", { "user-agent": CHROME });
  const long = ["a ", "a/1.", "(((((", "Mozilla/5.0 (", "compatible; "].map((part) =>
    part.repeat(16_384 / part.length),
  );
  const durationMs = await fastestRun(async () => {
    for (const agent of long) await refused("standard", { "user-agent": agent });
  });
  expect(durationMs).toBeLessThan(100);
});
