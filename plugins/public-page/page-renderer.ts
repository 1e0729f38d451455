// What people see at an agent's address: a card, a chat, or that nobody is there. One file, no foreign address, no cookie.
import type { Config } from "../../src/kernel/config/config.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import chat from "./chat.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import type { Card } from "./model.ts";

const [chatBody = "", script = ""] = chat.split(/(?=<script>)/);

export interface PageRenderer {
  /** The card, with a chat where anybody may talk; `agentOrigin` where it is shown on a host of the agent's own. */
  agentPage(card: Card, subdomain: string, agentOrigin: string | undefined): Response;
  /** 404 */
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
    const { name, chat } = card;
    // Not even our own script may talk to anything but this one agent.
    const messageUrls = agentOrigin
      ? [`${agentOrigin}/messages`]
      : webOrigins.map((home) => `${home}/a/${subdomain}/messages`);
    const html = fillTemplate(layout, {
      robots: chat ? "" : NOINDEX,
      title: `${escapeHtml(name)} · Berth`,
      main: `<main${chat ? ' class="chat"' : ""}>\n${renderHeader(card)}\n${renderBody(card)}\n</main>`,
      script: chat ? script : "",
    });
    return htmlResponse(html, 200, chat ? messageUrls : []);
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

function renderHeader({ name, status, verified, verificationType, chat }: Card): string {
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
${chat ? '<button id="anew" type="button" hidden>Start over</button>' : ""}</header>`;
}

function renderBody({ chat: isChatOpen, greeting }: Card): string {
  if (!isChatOpen) return "<p>An AI agent. It does not talk to visitors here.</p>";
  const greetingBlock = greeting === "" ? "" : `<div class="first" dir="auto">${escapeHtml(greeting)}</div>`;
  return fillTemplate(chatBody, { greeting: greetingBlock });
}

/** Puts values in the place of `{{name}}`; what the values say of places stays as it is. */
const fillTemplate = (template: string, values: Record<string, string>) =>
  template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");

/** Only the script and style that are in our own files may run, told by their hashes (CSP level 3). */
const cspHash = (source: string, element: string) => {
  const [, text = ""] = new RegExp(`<${element}>(.*?)</${element}>`, "s").exec(source) ?? [];
  return `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
};
let cspHashes: { style: string; script: string } | undefined;

function htmlResponse(html: string, status: number, connectSources: readonly string[]): Response {
  cspHashes ??= { style: cspHash(layout, "style"), script: cspHash(chat, "script") };
  const policy = [
    "default-src 'none'",
    `style-src ${cspHashes.style}`,
    ...(connectSources.length > 0 ? [`script-src ${cspHashes.script}`, `connect-src ${connectSources.join(" ")}`] : []),
    "img-src data:",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const headers = {
    "content-type": "text/html;charset=utf-8",
    "content-security-policy": policy.join("; "),
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    vary: "accept",
  };
  return new Response(html, { status, headers });
}
