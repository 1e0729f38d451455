// What stands on a page for something of the reader's, and what takes its place here. Every other word of a block runs as it is.

import type { Client } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { newAppId, tokensFor } from "../support/slack.ts";
import type { World } from "./world.ts";

const SLACK_TOKENS = tokensFor(newAppId());

interface Place {
  origin: string;
  backend: string;
  agent: string;
  /** The page's own bots: a bot serves one agent. */
  botToken: string;
  otherBotToken: string;
}

/** Replaces the addresses and secrets of a block. */
export function withStandIns(
  code: string,
  { origin, backend, agent, botToken, otherBotToken }: Place,
  world: World,
): string {
  const pairs: [string, string][] = [
    ["http://localhost:3000", origin],
    ["http://localhost:3001", backend],
    ["wss://berth.example", origin.replace("http", "ws")],
    ["https://hooks.example.com/berth", `${world.hooks}/berth`],
    ["https://example.com/guide", `${world.origin}/guide`],
    ["https://www.example.com/release-notes.zip", `${world.origin}/release-notes.zip`],
    ["123456:your-token", botToken],
    ["654321:another-token", otherBotToken],
    ["xoxb-…", SLACK_TOKENS.botToken],
    ["xapp-…", SLACK_TOKENS.appToken],
    // In a text that the shell quotes: the quotes end for the command.
    ["THE-CODE", `'"$(pairing-code)"'`],
    ["01a1…", agent],
    ["0x…", "0x000000000000000000000000000000000000dEaD"],
    ["sk-…", "sk-of-nobody-0123456789"],
    ["eyJ…", world.identityToken],
  ];
  return pairs.reduce((text, [from, to]) => text.replaceAll(from, to), code);
}

/** The people of the page on privacy: who is erased by the operator, and by an owner. */
const WRITERS = [123_456_789, 4242];

/** What must be there before the blocks of a page run. Returns further variables of its shell. */
export const BEFORE: Readonly<
  Record<string, (client: Client, agent: string, world: World) => Promise<Record<string, string>>>
> = {
  // A turn that waits for its owner.
  "docs/approvals.md": async (client, agent, world) => {
    world.upstream.script(({ toolResults }) =>
      toolResults.length > 0 ? "Done." : { toolCalls: [{ name: "remember", arguments: { fact: "They like tea." } }] },
    );
    await client.put(`/api/agents/${agent}/config`, { approvals: { remember: "ask" } });
    await client.post(`/api/agents/${agent}/conversations`, { message: "I like tea." });
    const id = await eventually(
      async () => (await client.get<{ approvals: { id: string }[] }>("/api/approvals")).body.approvals[0]?.id,
      { what: "a request for approval" },
    );
    return { ID: id };
  },
  "docs/slack.md": async (_client, _agent, { slack }) => {
    slack.addApp(SLACK_TOKENS, { username: "berth-agent" });
    return {};
  },
  "docs/agent-as-code.md": async () => ({
    OPENROUTER_KEY: "sk-of-nobody-0123456789",
    DOCS_TOKEN: "a-token-of-the-page",
  }),
  // An account of somebody else, and people who have written to a bot.
  "docs/privacy.md": async (client, agent, world) => {
    await client.post("/api/register", { email: "bob@example.com", password: "correct horse battery", name: "Bob" });
    const token = `700001:${"bot-of-the-page-on-privacy".padEnd(35, "x")}`;
    world.telegram.addBot(token);
    await client.put(`/api/agents/${agent}/config`, { channels: { channel_a: { access: "open" } } });
    await client.put(`/api/agents/${agent}/channels/channel_a`, { token });
    const bot = world.telegram.bot(token);
    for (const writer of WRITERS) {
      bot.userSays(writer, "Hello");
      await world.telegram.waitFor(() => bot.sent(writer).length > 0);
    }
    return {};
  },
  "docs/a2a.md": async (client, agent) => {
    await client.put(`/api/agents/${agent}/public`, { enabled: true });
    return {};
  },
};

/** How the model answers on pages that start a service of their own. */
export const SCRIPTS: Readonly<Record<string, (world: World) => void>> = {
  "docs/plugins.md": ({ upstream }) =>
    upstream.script(({ toolResults: [result] }) =>
      result ? `Then: ${result.content}` : { toolCalls: [{ name: "next_tides", arguments: { count: 1 } }] },
    ),
};

/** What must have happened when the blocks of a page have run, beside that none failed. */
export const AFTER: Readonly<Record<string, (world: World) => void>> = {
  "docs/plugins.md": ({ upstream }) => {
    const result = upstream.chats.at(-1)?.toolResults[0]?.content;
    if (result !== '[{"at":"2031-05-01T06:30:00.000Z","metres":4.1}]') throw new Error(`The tool returned ${result}`);
  },
};
