// Renders an agent's public page: a card, with a chat if enabled, or a 404 page. Its script is its own, and the reader of
// Markdown beside it; neither has foreign addresses.
import { version } from "../../package.json";
import type { Config } from "../../src/kernel/config/config.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../src/kernel/pages/html.ts";
import type { Language } from "../../src/kernel/pages/language.ts";
import { messagePage, type PageMessage } from "../../src/kernel/pages/message-page.ts";
import { pageTemplate, pageText, translateText } from "../../src/kernel/pages/page-template.ts";
import chat from "./chat.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import type { Card } from "./model.ts";

/** Where a page is requested. */
export interface PagePlace {
  subdomain: string;
  /** The agent's own origin, if the page is requested there. */
  agentOrigin: string | undefined;
  /** Origins of sites that may show the page in a frame. */
  embedOrigins: readonly string[];
}

export interface PageRenderer {
  /** The card, with a chat if `card.chat`. */
  agentPage(card: Card, place: PagePlace, language: Language): Response;
  /** Status 404. */
  notFoundPage(language: Language): Response;
}

/** The file that the page's script reads Markdown with, beside the page. */
export const MARKDOWN_FILE = "markdown.js";

const STATUS_TEXTS = {
  online: pageText("Online"),
  asleep: pageText("Asleep"),
  unwell: pageText("Not well right now"),
} as const;
const VERIFICATION_TEXTS: Readonly<Record<string, string>> = {
  attestation: pageText("on-chain attestation"),
  exchange: pageText("exchange account"),
  name_service: pageText("name service"),
  webauthn: pageText("security key"),
};
const NOT_FOUND: PageMessage = {
  title: pageText("Nobody is here"),
  text: pageText("There is no agent at this address. It may have moved on."),
};
const NOINDEX = '<meta name="robots" content="noindex">';

const layoutIn = pageTemplate(layout);
const chatIn = pageTemplate(chat, { errors: "visitors" });

export function createPageRenderer(config: Pick<Config, "baseUrl" | "backend">): PageRenderer {
  // A content security policy can't name IPv6 addresses (CSP level 3 §2.3.1).
  const webOrigins = [...trustedOrigins({ ...config, corsOrigins: [] }, "web")].filter(
    (origin) => !origin.includes("["),
  );

  function agentPage(card: Card, { subdomain, agentOrigin, embedOrigins }: PagePlace, language: Language): Response {
    const { name, chat: hasChat } = card;
    const template = layoutIn(language);
    const [chatBody = "", script = ""] = chatIn(language).split(/(?=<script>)/);
    const basePath = agentOrigin ? "" : `/a/${subdomain}`;
    const html = fillTemplate(template, {
      robots: hasChat ? "" : NOINDEX,
      title: `${escapeHtml(name)} · Berth`,
      main: `<main${hasChat ? ' class="chat"' : ""}>\n${renderHeader(card, language)}\n${renderBody(card, chatBody, language)}\n</main>`,
      script: hasChat ? `<script src="${basePath}/${MARKDOWN_FILE}?${version}"></script>\n${script}` : "",
    });
    if (!hasChat) return htmlResponse(html, contentPolicy({ styles: template }));
    // The page's script may send messages to this agent, and no other request.
    const addresses = agentOrigin ? [agentOrigin] : webOrigins.map((origin) => origin + basePath);
    const policy = contentPolicy({
      styles: template,
      scripts: script,
      scriptFiles: addresses.map((address) => `${address}/${MARKDOWN_FILE}`),
      connect: addresses.map((address) => `${address}/messages`),
      frameAncestors: embedOrigins,
    });
    return htmlResponse(html, policy);
  }

  return {
    agentPage,
    notFoundPage: (language) => messagePage(NOT_FOUND, language, 404),
  };
}

function renderHeader({ name, status, verified, verificationType, chat: hasChat }: Card, language: Language): string {
  const [initial = ""] = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment.toUpperCase());
  const method = Object.entries(VERIFICATION_TEXTS).find(([id]) => id === verificationType)?.[1];
  const facts = [
    `<span class="${status}">${translateText(STATUS_TEXTS[status], language)}</span>`,
    ...(verified
      ? [
          `<span class="verified">✓ ${translateText("Verified", language)}${method ? ` · ${translateText(method, language)}` : ""}</span>`,
        ]
      : []),
  ];
  return `<header>
<div class="face" aria-hidden="true">${escapeHtml(initial)}</div>
<div><h1><bdi>${escapeHtml(name)}</bdi></h1><p class="facts">${facts.join("")}</p></div>
${hasChat ? `<button id="reset" type="button" hidden>${translateText("Start over", language)}</button>` : ""}</header>`;
}

function renderBody({ chat: hasChat, greeting }: Card, chatBody: string, language: Language): string {
  if (!hasChat) return `<p>${translateText("An AI agent. It does not talk to visitors here.", language)}</p>`;
  // The language of the owner's text is not known.
  const greetingBlock =
    greeting === "" ? "" : `<div class="first plain" dir="auto" lang="">${escapeHtml(greeting)}</div>`;
  return fillTemplate(chatBody, { greeting: greetingBlock });
}

const htmlResponse = (html: string, policy: string) => new Response(html, { headers: pageHeaders(policy) });
