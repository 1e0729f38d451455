// What people see at an agent's address: a card, a chat, or that nobody is there. One file, no foreign address, no cookie.
import type { Config } from "../../src/config.ts";
import { ownOrigins } from "../../src/origins.ts";
import chat from "./chat.htm" with { type: "text" };
import layout from "./layout.htm" with { type: "text" };
import type { Card } from "./model.ts";

const [talk = "", script = ""] = chat.split(/(?=<script>)/);

export interface Faces {
  /** The card, with a chat where anybody may talk; `agentOrigin` where it is shown on a host of the agent's own. */
  page(card: Card, subdomain: string, agentOrigin: string | undefined): Response;
  /** 404 */
  nobody(): Response;
}

const STATUS = { online: "Online", asleep: "Asleep", unwell: "Not well right now" } as const;
const VERIFIED: Readonly<Record<string, string>> = {
  attestation: "on-chain attestation",
  exchange: "exchange account",
  name_service: "name service",
  webauthn: "security key",
};
const NO_ROBOTS = '<meta name="robots" content="noindex">';

export function createFaces(config: Pick<Config, "baseUrl" | "backend">): Faces {
  // A content security policy can't name IPv6 addresses (CSP level 3 §2.3.1).
  const homes = [...ownOrigins({ ...config, corsOrigins: [] }, "web")].filter((origin) => !origin.includes("["));

  function page(card: Card, subdomain: string, agentOrigin: string | undefined): Response {
    const { name, chat } = card;
    // Not even our own script may talk to anything but this one agent.
    const messages = agentOrigin ? [`${agentOrigin}/messages`] : homes.map((home) => `${home}/a/${subdomain}/messages`);
    const html = fill(layout, {
      robots: chat ? "" : NO_ROBOTS,
      title: `${escaped(name)} · Berth`,
      main: `<main${chat ? ' class="chat"' : ""}>\n${head(card)}\n${body(card)}\n</main>`,
      script: chat ? script : "",
    });
    return respond(html, 200, chat ? messages : []);
  }

  return {
    page,
    nobody() {
      const main =
        "<main>\n<h1>Nobody is here</h1>\n<p>There is no agent at this address. It may have moved on.</p>\n</main>";
      return respond(fill(layout, { robots: NO_ROBOTS, title: "Nobody is here · Berth", main }), 404, []);
    },
  };
}

function head({ name, status, verified, verificationType, chat }: Card): string {
  const [initial = ""] = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment.toUpperCase());
  const kind = VERIFIED[verificationType ?? ""];
  const facts = [
    `<span class="${status}">${STATUS[status]}</span>`,
    ...(verified ? [`<span class="verified">✓ Verified${kind ? ` · ${kind}` : ""}</span>`] : []),
  ];
  return `<header>
<div class="face" aria-hidden="true">${escaped(initial)}</div>
<div><h1><bdi>${escaped(name)}</bdi></h1><p class="facts">${facts.join("")}</p></div>
${chat ? '<button id="anew" type="button" hidden>Start over</button>' : ""}</header>`;
}

function body({ chat: open, greeting }: Card): string {
  if (!open) return "<p>An AI agent. It does not talk to visitors here.</p>";
  const first = greeting === "" ? "" : `<div class="first" dir="auto">${escaped(greeting)}</div>`;
  return fill(talk, { greeting: first });
}

/** Puts values in the place of `{{name}}`; what the values say of places stays as it is. */
const fill = (template: string, values: Record<string, string>) =>
  template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");

/** Only the script and style that are in our own files may run, told by their hashes (CSP level 3). */
const hashOf = (source: string, element: string) => {
  const [, text = ""] = new RegExp(`<${element}>(.*?)</${element}>`, "s").exec(source) ?? [];
  return `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
};
let policies: { style: string; script: string } | undefined;

function respond(html: string, status: number, connect: readonly string[]): Response {
  policies ??= { style: hashOf(layout, "style"), script: hashOf(chat, "script") };
  const policy = [
    "default-src 'none'",
    `style-src ${policies.style}`,
    ...(connect.length > 0 ? [`script-src ${policies.script}`, `connect-src ${connect.join(" ")}`] : []),
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
