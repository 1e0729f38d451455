// Renders an agent's public page: a card, with a chat if enabled, or a 404 page. Each is one file without foreign addresses.
import type { Config } from "../../src/kernel/config/config.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../src/kernel/util/html.ts";
import chat from "./chat.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import type { Card } from "./model.ts";

const [chatBody = "", script = ""] = chat.split(/(?=<script>)/);

export interface PageRenderer {
  /** The card, with a chat if `card.chat`. `agentOrigin`: the agent's own origin, if the page is requested there. */
  agentPage(card: Card, subdomain: string, agentOrigin: string | undefined): Response;
  /** Status 404. */
  notFoundPage(): Response;
}

const STATUS_LABELS = { online: "Online", asleep: "Asleep", unwell: "Not well right now" } as const;
const VERIFICATION_LABELS: Readonly<Record<string, string>> = {
  attestation: "on-chain attestation",
  exchange: "exchange account",
  name_service: "name service",
  webauthn: "security key",
};
const NOINDEX = '<meta name="robots" content="noindex">';

export function createPageRenderer(config: Pick<Config, "baseUrl" | "backend">): PageRenderer {
  // A content security policy can't name IPv6 addresses (CSP level 3 §2.3.1).
  const webOrigins = [...trustedOrigins({ ...config, corsOrigins: [] }, "web")].filter(
    (origin) => !origin.includes("["),
  );

  function agentPage(card: Card, subdomain: string, agentOrigin: string | undefined): Response {
    const { name, chat: hasChat } = card;
    const html = fillTemplate(layout, {
      robots: hasChat ? "" : NOINDEX,
      title: `${escapeHtml(name)} · Berth`,
      main: `<main${hasChat ? ' class="chat"' : ""}>\n${renderHeader(card)}\n${renderBody(card)}\n</main>`,
      script: hasChat ? script : "",
    });
    if (!hasChat) return htmlResponse(html, 200, []);
    // The page's script may send messages to this agent, and no other request.
    const messageUrls = agentOrigin
      ? [`${agentOrigin}/messages`]
      : webOrigins.map((origin) => `${origin}/a/${subdomain}/messages`);
    return htmlResponse(html, 200, messageUrls);
  }

  return {
    agentPage,
    notFoundPage() {
      const main =
        "<main>\n<h1>Nobody is here</h1>\n<p>There is no agent at this address. It may have moved on.</p>\n</main>";
      return htmlResponse(fillTemplate(layout, { robots: NOINDEX, title: "Nobody is here · Berth", main }), 404, []);
    },
  };
}

function renderHeader({ name, status, verified, verificationType, chat: hasChat }: Card): string {
  const [initial = ""] = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment.toUpperCase());
  const verificationLabel = VERIFICATION_LABELS[verificationType ?? ""];
  const facts = [
    `<span class="${status}">${STATUS_LABELS[status]}</span>`,
    ...(verified
      ? [`<span class="verified">✓ Verified${verificationLabel ? ` · ${verificationLabel}` : ""}</span>`]
      : []),
  ];
  return `<header>
<div class="face" aria-hidden="true">${escapeHtml(initial)}</div>
<div><h1><bdi>${escapeHtml(name)}</bdi></h1><p class="facts">${facts.join("")}</p></div>
${hasChat ? '<button id="reset" type="button" hidden>Start over</button>' : ""}</header>`;
}

function renderBody({ chat: hasChat, greeting }: Card): string {
  if (!hasChat) return "<p>An AI agent. It does not talk to visitors here.</p>";
  const greetingBlock = greeting === "" ? "" : `<div class="first" dir="auto">${escapeHtml(greeting)}</div>`;
  return fillTemplate(chatBody, { greeting: greetingBlock });
}

/** `connect`: the addresses that the chat's script may fetch; without any, the page runs no script. */
function htmlResponse(html: string, status: number, connect: readonly string[]): Response {
  const policy = contentPolicy({ styles: layout, ...(connect.length > 0 && { scripts: chat, connect }) });
  return new Response(html, { status, headers: { ...pageHeaders(policy), vary: "accept" } });
}
