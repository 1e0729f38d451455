// Detects bots by request headers and a honeypot field; BOT_DETECTION sets how strictly.

import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import { forbidden } from "../../../src/kernel/errors.ts";
import type { signInSettings } from "../settings.ts";

export interface BotDetection {
  /** Throws 403 `BOT_DETECTED` if the headers look automated. */
  refuseByHeaders(headers: Headers): Promise<void>;
  /** Throws 403 `BOT_DETECTED` if the honeypot is filled in: the field `website`, which is invisible to people. */
  refuseByBody(body: unknown): void;
}

/** The rest of a longer user agent is ignored, to bound the work of the patterns. */
const MAX_USER_AGENT = 1024;

/** The start of the user agent of browsers, and of bots that pose as one. */
const BROWSER_USER_AGENT = /^(?:Mozilla|Opera)\/\d/;

/** Bots that `isbot` detects only by patterns that also match API clients, which are left out below. */
const KNOWN_BOTS = /scrapy|puppeteer|lighthouse|slurp|webdriver|mechanize|colly/i;

/** User agents of API clients, which are allowed: patterns of `isbot` that match one of them are left out. */
const API_CLIENTS = [
  "curl/8.5.0",
  "Wget/1.21.4",
  "HTTPie/3.2.2",
  "xh/0.22.0",
  "Bun/1.4.4",
  "Deno/2.1.4",
  "node",
  "undici",
  "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
  "axios/1.7.9",
  "got (https://github.com/sindresorhus/got)",
  "python-requests/2.32.3",
  "python-httpx/0.28.1",
  "Python/3.12 aiohttp/3.11.11",
  "Python-urllib/3.12",
  "Go-http-client/2.0",
  "okhttp/4.12.0",
  "Java/21.0.5",
  "Apache-HttpClient/5.4 (Java/21.0.5)",
  "Dart/3.6 (dart:io)",
  "Ruby",
  "Faraday v2.12.2",
  "GuzzleHttp/7",
  "PHP/8.3.14",
  "libwww-perl/6.77",
  "reqwest/0.12.9",
  "PostmanRuntime/7.43.0",
  "insomnia/10.3.0",
  "k6/0.55.0 (https://k6.io/)",
  "WindowsPowerShell/5.1",
  // Typical names that developers choose.
  "acme-api-client/1.0",
  "acme-server/1.0",
  "acme-tools/1.0 library",
];

interface UserAgentClassifier {
  /** All patterns of `isbot`; matches almost anything that is not a browser. */
  isBot(userAgent: string): boolean;
  /** The patterns that match no API client. */
  isCrawler(userAgent: string): boolean;
}

export function createBotDetection({
  botDetection,
}: Pick<SettingsOf<typeof signInSettings>, "botDetection">): BotDetection {
  let classifier: Promise<UserAgentClassifier> | undefined;

  async function isRefused(userAgent: string): Promise<boolean> {
    if (userAgent === "") return true;
    classifier ??= loadClassifier();
    const { isBot, isCrawler } = await classifier;
    const looksLikeBrowser = BROWSER_USER_AGENT.test(userAgent);
    if (botDetection === "strict") return !looksLikeBrowser || isBot(userAgent);
    return KNOWN_BOTS.test(userAgent) || (looksLikeBrowser ? isBot(userAgent) : isCrawler(userAgent));
  }

  return {
    async refuseByHeaders(headers) {
      if (botDetection === "off") return;
      const userAgent = (headers.get("user-agent") ?? "").slice(0, MAX_USER_AGENT).trim();
      // Headless Chrome with a changed user agent still sends its brand (User-Agent Client Hints).
      const brands = headers.get("sec-ch-ua")?.slice(0, MAX_USER_AGENT) ?? "";
      if (/headless/i.test(brands) || (await isRefused(userAgent))) throw botDetected();
    },
    refuseByBody(body) {
      if (botDetection === "off" || typeof body !== "object" || body === null || !("website" in body)) return;
      const { website } = body;
      if (website !== "" && website !== null && website !== undefined) throw botDetected();
    },
  };
}

const botDetected = () =>
  forbidden("BOT_DETECTED", "This request looks automated. Use a browser, or an API client that names itself.");

/** Imports `isbot` at the first request that needs it, to keep the start fast. */
async function loadClassifier(): Promise<UserAgentClassifier> {
  const { createIsbotFromList, isbot, list } = await import("isbot");
  const distinguishesBots = (pattern: string) => API_CLIENTS.every((client) => !new RegExp(pattern, "i").test(client));
  return { isBot: isbot, isCrawler: createIsbotFromList(list.filter(distinguishesBots)) };
}
