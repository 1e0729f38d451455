// Fills databases with many agents by inserting rows into a file from `berth migrate`.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { writeCredentials } from "../../channels/shared/credential-text.ts";
import { CREDENTIAL_FIELDS } from "../../channels/slack/credentials.ts";
import { createVault } from "../../src/kernel/security/vault.ts";
import { runBerth } from "../../tests/support/berth.ts";
import { tokensFor } from "../../tests/support/slack.ts";
import { binary, SECRET_KEY } from "./service.ts";

export interface Seed {
  agents: number;
  /** Number of agents with a Telegram bot, whose token is `tokenOf(n)`; `true` means all. */
  bots: boolean | number;
  /** Number of agents with a Discord bot, whose token is `discordTokenOf(n)`. Default: none. */
  discord?: number;
  /** Number of agents with a Slack app, whose tokens are `slackAppOf(n)`. Default: none. */
  slack?: number;
}

/** The token of the nth agent's bot. */
export const tokenOf = (n: number) => `${1_000_000 + n}:bench-token-of-nobody`;

const discordIdOf = (n: number) => String(100_000_000_000_000_000n + BigInt(n));
export const discordTokenOf = (n: number) =>
  `${Buffer.from(discordIdOf(n)).toString("base64url")}.BeNcHx.bench-token-of-nobody-at-all`;

/** The tokens of the nth agent's Slack app, and what Slack tells of it. */
export function slackAppOf(n: number) {
  const id = `A0BENCH${String(n).padStart(5, "0")}`;
  return {
    ...tokensFor(id),
    id,
    username: `bench_${n}`,
    team: "T0000001",
    botUser: `U0BENCH${String(n).padStart(5, "0")}`,
  };
}

/** Creates a database in `<dir>/data` with one owner and running agents with open access. Returns the agents' ids. */
export async function seed(dir: string, { agents, bots, discord = 0, slack = 0 }: Seed): Promise<string[]> {
  const { exitCode, stderr } = await runBerth(["migrate"], { SECRET_KEY }, dir, binary);
  if (exitCode !== 0) throw new Error(`berth migrate ended with ${exitCode}: ${stderr}`);
  const vault = createVault({ key: SECRET_KEY });
  const database = new Database(join(dir, "data/berth.db"));
  const now = Date.now();
  const userId = Bun.randomUUIDv7();
  const ids = Array.from({ length: agents }, () => Bun.randomUUIDv7());
  const config = JSON.stringify({ channels: { channel_a: { access: "open" }, channel_b: { access: "open" } } });
  try {
    database.run("PRAGMA foreign_keys = ON");
    const insertUser = database.query(
      `INSERT INTO users (id, email, name, plan, referral_code, created_at, updated_at)
       VALUES (?, 'owner@example.com', 'Owner', 'enterprise', 'BENCH', ?, ?)`,
    );
    const insertAgent = database.query(
      `INSERT INTO agents (id, user_id, name, model, status, wanted, subdomain, runtime_version, started_at, created_at, updated_at)
       VALUES (?, ?, ?, 'model_a', 'running', 'up', ?, '1.0.0', ?, ?, ?)`,
    );
    const insertConfig = database.query(
      "INSERT INTO agent_configs (agent_id, version, body, updated_at) VALUES (?, 1, ?, ?)",
    );
    const insertToken = database.query(
      "INSERT INTO credentials (owner_kind, owner_id, kind, sealed, updated_at) VALUES ('agent', ?, ?, ?, ?)",
    );
    const insertBot = database.query(
      `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret, created_at, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const connect = (id: string, channel: string, botId: string, username: string, token: string, detail?: object) => {
      const callbackId = Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString("base64url");
      const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
      const digest = new Bun.CryptoHasher("sha256").update(token).digest("base64url");
      insertToken.run(id, channel, vault.seal(token, `agent:${id}:credential:${channel}`), now);
      const sealed = vault.seal(secret, `channel-callback:${callbackId}`);
      const more = detail ? JSON.stringify(detail) : null;
      insertBot.run(id, channel, botId, username, digest, callbackId, sealed, now, more);
    };
    const telegram = bots === true ? agents : Number(bots);
    database.transaction(() => {
      insertUser.run(userId, now, now);
      for (const [n, id] of ids.entries()) {
        insertAgent.run(id, userId, `Agent ${n}`, `agent-${n}`, now, now, now);
        insertConfig.run(id, config, now);
        if (n < telegram) connect(id, "channel_a", String(1_000_000 + n), `bench_${n}_bot`, tokenOf(n));
        if (n < discord) connect(id, "channel_b", discordIdOf(n), `bench_${n}`, discordTokenOf(n));
        if (n < slack) {
          const { id: app, username, team, botUser: user, botToken, appToken } = slackAppOf(n);
          const token = writeCredentials(CREDENTIAL_FIELDS, { botToken, appToken });
          connect(id, "channel_d", app, username, token, { user, team });
        }
      }
    })();
  } finally {
    database.close();
  }
  return ids;
}

/** Inserts waiting messages in four conversations into an agent's inbox. The service must not run. */
export function queue(dir: string, agentId: string, messages: number): void {
  const database = new Database(join(dir, "data/berth.db"));
  const now = Date.now();
  try {
    const sessions = Array.from({ length: 4 }, () => `sess_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`);
    const insertSession = database.query(
      "INSERT INTO sessions (id, agent_id, platform, peer, created_at, last_activity_at) VALUES (?, ?, 'api', ?, ?, ?)",
    );
    const insertMessage = database.query(
      `INSERT INTO inbox (id, agent_id, session_id, platform, platform_message_id, sender_id, sender_name, by_owner, content, received_at)
       VALUES (?, ?, ?, 'api', ?, 'bench', '', 1, 'Hello there', ?)`,
    );
    database.transaction(() => {
      for (const id of sessions) insertSession.run(id, agentId, `queue:${id}`, now, now);
      for (let n = 0; n < messages; n++) {
        const id = Bun.randomUUIDv7();
        insertMessage.run(id, agentId, sessions[n % sessions.length] ?? "", id, now);
      }
    })();
  } finally {
    database.close();
  }
}

/** Makes a database large: inserts a conversation of `messages` messages of 1 KiB. The service must not run. */
export function fill(dir: string, agentId: string, messages: number): void {
  const database = new Database(join(dir, "data/berth.db"));
  const [now, content, session] = [Date.now(), "x".repeat(1024), "sess_0000000000000000"];
  try {
    const insertSession = database.query(
      "INSERT INTO sessions (id, agent_id, platform, created_at, last_activity_at) VALUES (?, ?, 'web', ?, ?)",
    );
    const insertMessage = database.query(
      `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
       VALUES (?, ?, ?, ?, 'web', 'user', ?, ?)`,
    );
    database.transaction(() => {
      insertSession.run(session, agentId, now, now);
      for (let n = 0; n < messages; n++) {
        const id = Bun.randomUUIDv7();
        insertMessage.run(id, session, agentId, id, content, now);
      }
    })();
  } finally {
    database.close();
  }
}

/** Inserts schedules with one run at `at` (epoch ms) into each of these agents. The service must not run. */
export function seedSchedules(
  dir: string,
  agentIds: readonly string[],
  { each, at }: { each: number; at: number },
): void {
  const database = new Database(join(dir, "data/berth.db"));
  const now = Date.now();
  try {
    const insertSchedule = database.query(
      `INSERT INTO schedules (id, agent_id, name, prompt, at, timezone, missed, enabled, origin, next_run_at, created_at, updated_at)
       VALUES (?1, ?2, 'Report', 'How is it going?', ?3, 'UTC', 'once', 1, 'owner', ?3, ?4, ?4)`,
    );
    const insertJob = database.query(
      `INSERT INTO jobs (id, kind, unique_key, payload, run_at, max_attempts, created_at)
       VALUES (?1, 'schedule', ?2, json_object('id', ?2), ?3, 20, ?4)`,
    );
    database.transaction(() => {
      for (const agentId of agentIds) {
        for (let n = 0; n < each; n++) {
          const id = Bun.randomUUIDv7();
          insertSchedule.run(id, agentId, at, now);
          insertJob.run(Bun.randomUUIDv7(), id, at, now);
        }
      }
    })();
  } finally {
    database.close();
  }
}
