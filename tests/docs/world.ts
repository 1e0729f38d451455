// What the blocks of the pages talk to: the compiled binary with a scripted model, fakes of Telegram and Slack, and addresses that answer.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CARD_V3, OPENCLAW, pngOf } from "../../plugins/lifecycle/takeover/support.test.ts";
import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { pdfOf } from "../support/documents.ts";
import { startIssuer } from "../support/jwks.ts";
import { provision } from "../support/members.ts";
import { startReceiver } from "../support/receiver.ts";
import { type Slack, startSlack } from "../support/slack.ts";
import { startTelegram, type Telegram } from "../support/telegram.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import { zipOf } from "../support/zips.ts";

export const root = resolve(import.meta.dir, "../..");
export const binary = join(root, "dist/berth");

/** The account of the pages. */
export const ADA = { email: "ada@example.com", password: "correct horse battery", name: "Ada" };
const SKILL = `---
name: release-notes
description: Writes release notes from a list of changes.
---
Group the changes by what users notice.
`;

export interface World extends AsyncDisposable {
  upstream: Upstream;
  telegram: Telegram;
  slack: Slack;
  /** Settings of every service that the pages start. */
  env: Record<string, string>;
  /** A new service in `dir`, with arguments after `serve`. */
  start(dir: string, args?: string[], env?: Record<string, string>): Promise<Berth>;
  /** Answers at /pairing-code?token=… with the code that a stranger of this bot gets. */
  origin: string;
  hooks: string;
  /** A person's token of the social network. */
  identityToken: string;
}

export async function openWorld(): Promise<World> {
  const upstream = await startUpstream({ models: ["fake-small", "fake-embed"] });
  const telegram = await startTelegram();
  const slack = await startSlack();
  const receiver = startReceiver();
  const issuer = await startIssuer();
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/pairing-code")
        return new Response(await pairingCode(telegram, searchParams.get("token") ?? ""));
      if (pathname.endsWith(".zip")) return new Response(zipOf({ "release-notes/SKILL.md": SKILL }));
      return new Response("<title>Guide</title><h1>Guide</h1><p>The harbour opens at six.</p>", {
        headers: { "content-type": "text/html" },
      });
    },
  });
  const env = {
    PROVIDER_3_BASE_URL: upstream.url,
    MODEL_A: "provider_3:fake-small",
    CHANNEL_A_API_ROOT: telegram.url,
    CHANNEL_D_API_ROOT: slack.url,
    SOCIAL_ISSUER: issuer.url,
    SOCIAL_AUDIENCE: issuer.audience,
    RATE_LIMITS: "off",
    BOT_DETECTION: "off",
    OUTBOUND_ALLOW: "127.0.0.1/32",
  };
  return {
    upstream,
    telegram,
    slack,
    env,
    origin: site.url.origin,
    hooks: receiver.url,
    identityToken: await issuer.token(),
    start: (dir, args = [], more = {}) => startBerth({ dir, args, env: { ...env, ...more } }),
    async [Symbol.asyncDispose]() {
      await site.stop(true);
      await issuer.stop();
      await receiver[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await slack.stop();
      await upstream.stop();
    },
  };
}

/** Writes to the bot as its future owner, and reads the code out of its answer. */
async function pairingCode(telegram: Telegram, token: string): Promise<string> {
  const bot = telegram.bot(token);
  const chat = 4711;
  bot.userSays(chat, "Hello");
  await telegram.waitFor(() => bot.sent(chat).length > 0);
  const text = bot.sent(chat).at(-1)?.text ?? "";
  const code = /this code: ([A-Z2-9]{6})\b/.exec(text)?.[1];
  if (code === undefined) throw new Error(`The bot's answer has no code: ${text}`);
  return code;
}

/** Makes the account of the pages an admin, as the first start says, and signs in. */
export async function signInAsAda(berth: Berth): Promise<Client> {
  const client = createClient(berth);
  await client.signUp(ADA);
  const { exitCode, stderr } = await berth.command("user", "admin", ADA.email);
  if (exitCode !== 0) throw new Error(stderr);
  await client.signIn();
  return client;
}

/** An API key, an agent and the files that the blocks of a page name. */
export async function preparePage(client: Client, dir: string, name: string): Promise<Record<string, string>> {
  const files: Record<string, string | Uint8Array> = {
    "handbook.pdf": pdfOf(["The harbour opens at six."]),
    "card.png": pngOf({ ccv3: CARD_V3 }),
    "docs/tides.md": "# Tides\n\nHigh tide is at nine.\n",
    "config.json": JSON.stringify({ instructions: "You are a cheerful harbour master." }),
    ...Object.fromEntries(Object.entries(OPENCLAW).map(([path, text]) => [`.openclaw/${path}`, text])),
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  writeFileSync(join(dir, "cookies"), cookieFile(client));
  const { id } = await provision(client, name);
  const { body } = await client.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
  const key = await client.post<{ key: string }>("/api/keys", { name });
  if (key.status !== 201) throw new Error(`The key was not made: ${key.text}`);
  return { AGENT: id, SUBDOMAIN: body.agent.subdomain, KEY: key.body.key };
}

/** The client's cookies in curl's format (Netscape's): host, subdomains, path, secure, end, name, value. */
function cookieFile({ cookie }: Client): string {
  const rows = cookie.split("; ").map((pair) => {
    const at = pair.indexOf("=");
    return ["127.0.0.1", "FALSE", "/", "FALSE", "0", pair.slice(0, at), pair.slice(at + 1)].join("\t");
  });
  return `# Netscape HTTP Cookie File\n${rows.join("\n")}\n`;
}
