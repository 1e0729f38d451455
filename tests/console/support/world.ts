// A service with something on every page of the console: an agent that has worked, its owner, who is an admin, and others.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Berth, startBerth } from "../../support/berth.ts";
import { type Client, createClient } from "../../support/client.ts";
import { member, provision } from "../../support/members.ts";
import { storeConversation } from "./conversations.ts";

export interface World extends AsyncDisposable {
  readonly berth: Berth;
  /** The owner of everything below, and an admin. */
  readonly root: Client;
  readonly agentId: string;
  readonly conversationId: string;
  readonly webhookId: string;
  /** Another account, with an agent of its own. */
  readonly otherId: string;
}

const SKILL =
  "---\nname: tea\ndescription: Makes tea. Use it when somebody is thirsty.\n---\n# Steps\n\n1. Boil water.\n";

/** Starts the service. No address that it knows leads anywhere: its chain and its platforms can't be reached. */
export async function startWorld(): Promise<World> {
  const nowhere = "http://127.0.0.1:9";
  const berth = await startBerth({
    env: { RATE_LIMITS: "off", TESTNET_RPC_URL: nowhere, MAINNET_RPC_URL: nowhere, CHANNEL_A_API_ROOT: nowhere },
  });
  const root = await member(berth, "enterprise");
  await berth.command("user", "admin", root.account.email);
  const other = createClient(berth);
  const otherId = await other.join({ name: "Bob" });
  await other.grant("pro");
  await provision(other, "Lighthouse");
  const { id: agentId } = await provision(root, "Harbour", { instructions: "Be kind." });
  const { body: webhook } = await root.post<{ id: string }>("/api/webhooks", {
    url: "https://example.com/hook",
    types: ["*"],
    description: "The books",
  });
  const conversationId = await fill(berth, root, agentId);
  await berth.stop();
  plant(berth, agentId, webhook.id);
  await berth.restart({ keepPorts: true });
  return {
    berth,
    root,
    agentId,
    conversationId,
    webhookId: webhook.id,
    otherId,
    [Symbol.asyncDispose]: () => berth[Symbol.asyncDispose](),
  };
}

/** What the owner made by the API. */
async function fill(berth: Berth, root: Client, agentId: string): Promise<string> {
  const at = `/api/agents/${agentId}`;
  const made = [
    await root.put(`${at}/config`, { instructions: "Be kind, and brief." }),
    await root.post(`${at}/memories`, { text: "Ada takes her tea without milk." }),
    await root.post(`${at}/memories`, { text: "The ferry leaves at nine.", pinned: true }),
    await root.post(`${at}/schedules`, { name: "Weather", prompt: "Tell the weather.", cron: "0 8 * * *" }),
    await root.post("/api/keys", { name: "Monitoring", scopes: ["read"] }),
    await root.post(`${at}/backups`),
    await root.post("/api/wallet", { action: "create" }),
  ];
  await installSkill(berth, root);
  for (const [n, { status, text }] of made.entries()) if (status >= 300) throw new Error(`${n}: ${status} ${text}`);
  return storeConversation(berth, {
    agentId,
    platform: "channel_a",
    name: "Grace",
    messages: ["When does the ferry leave?", "And back?"],
    steps: [{ tool: "recall", input: '{"query":"ferry"}', result: "The ferry leaves at nine.", ok: true }],
  });
}

async function installSkill({ web }: Berth, { cookie }: Client): Promise<void> {
  const body = new FormData();
  body.append("file", new File([SKILL], "SKILL.md"));
  const response = await fetch(`${web}/api/skills`, { method: "POST", headers: { cookie }, body });
  if (!response.ok) throw new Error(await response.text());
}

/** A statement and its values. */
type Row = [sql: string, ...values: (string | number)[]];

/** What only platforms, models and time leave behind. */
function plant({ dir }: Berth, agentId: string, webhookId: string): void {
  using database = new Database(join(dir, "data/berth.db"));
  const now = Date.now();
  const id = () => Bun.randomUUIDv7();
  const soon = now + 3e6;
  const rows: Row[] = [
    [
      "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, 'error', 'turn', 'No answer.')",
      id(),
      agentId,
      now,
    ],
    [
      `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret,
        created_at) VALUES (?, 'channel_a', '1', 'harbour_bot', 'x', 'c', 'x', ?)`,
      agentId,
      now,
    ],
    [
      "INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, code, expires_at, approved_at, created_at) VALUES (?, 'channel_a', '7', 'Grace', '7', 'ABCDEF', ?, NULL, ?)",
      agentId,
      soon,
      now,
    ],
    [
      `INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at)
        VALUES (?, 'mail', '{}', 'failed', ?, 8, 8, 'The mail server refused the sender (550).', ?)`,
      id(),
      now,
      now,
    ],
    ...["Remind Grace", "Remind Ada"].map(
      (summary): Row => [
        `INSERT INTO approvals (id, agent_id, session_id, turn_id, code, platform, by_owner, tool, class, summary, input, status,
        requested_at, expires_at) VALUES (?, ?, 's', 't', 'ABCD', 'web', 0, 'remind_me', 'write', ?, '{}', 'pending', ?, ?)`,
        id(),
        agentId,
        summary,
        now,
        soon,
      ],
    ),
    [
      `INSERT INTO webhook_deliveries (id, endpoint_id, event_seq, event_id, type, status, attempts, last_status, last_error,
        created_at) VALUES (?, ?, 1, 'e', 'agent.status', 'failed', 3, 500, 'It answered with 500.', ?)`,
      id(),
      webhookId,
      now,
    ],
  ];
  for (const [sql, ...values] of rows) database.run(sql, values);
}
