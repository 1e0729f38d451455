// A service with a fleet for the pages of admins: accounts, agents, channels, usage, errors and failed jobs. The rows are
// written while the service is stopped.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Berth, startBerth } from "../../support/berth.ts";
import { type Client, createClient } from "../../support/client.ts";
import { member, provision } from "../../support/members.ts";

export interface Fleet {
  berth: Berth;
  root: Client;
  ada: Client;
  adaId: string;
  /** Has no agents. */
  bob: Client;
}

/** A name that would be markup, a link or a request if a page did not show it as text. */
export const HOSTILE = `<img src=x onerror="document.title='owned'"><a href="javascript:alert(1)">Ada</a>`;

const DAY = 86_400_000;

/** Starts a service with two accounts, some agents and what an operator would look at. */
export async function startFleet(): Promise<Fleet> {
  const berth = await startBerth({ env: { PROVIDER_2_API_KEY: "sk-or-v1-test-key-of-the-fleet-0123456789" } });
  const root = await member(berth, "enterprise");
  await berth.command("user", "admin", root.account.email);
  const ada = createClient(berth);
  const adaId = await ada.join();
  await ada.grant("enterprise");
  const bob = createClient(berth);
  await bob.join({ name: HOSTILE });
  const names = [HOSTILE, "Harbour", "Lighthouse", "Pilot", "Tug", "Ferry", "Quay", "Anchor", "Buoy", "Compass"];
  const ids: string[] = [];
  for (const name of names) ids.push((await provision(ada, name.slice(0, 64))).id);
  await berth.stop();
  seed(join(berth.dir, "data", "berth.db"), adaId, ids);
  await berth.restart({ keepPorts: true });
  return { berth, root, ada, adaId, bob };
}

function seed(file: string, userId: string, agents: readonly string[]): void {
  const database = new Database(file);
  const now = Date.now();
  const today = Math.floor(now / DAY);
  const insertUsage = database.query(
    "INSERT INTO usage_days VALUES (?, ?, ?, 'provider_2', ?, 0, ?, 0, 0, ?, ?, ?, 0)",
  );
  const insertLog = database.query(
    "INSERT INTO agent_logs (id, agent_id, at, level, source, message) VALUES (?, ?, ?, 'error', 'turn', 'No answer.')",
  );
  const insertChannel = database.query(
    `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, callback_id, callback_secret,
      created_at) VALUES (?, ?, ?, ?, 'x', ?, 'x', ?)`,
  );
  const insertJob = database.query(
    `INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at)
      VALUES (?, ?, '{}', 'failed', ?, 8, 8, ?, ?)`,
  );
  database.transaction(() => {
    for (const [n, id] of agents.entries()) {
      for (let day = 0; day < 30; day++) {
        const calls = 20 + ((n * 7 + day * 13) % 40);
        insertUsage.run(
          userId,
          today - day,
          id,
          n % 2 ? "anthropic/claude-sonnet-5" : "openai/gpt-5.2-mini",
          calls,
          calls * 900,
          calls * 210,
          calls * (2_000 + n * 900),
        );
      }
      if (n % 3 === 0) insertLog.run(Bun.randomUUIDv7(), id, now);
      if (n % 2 === 0) insertChannel.run(id, "channel_a", `bot${n}`, `${n}_harbour_bot`, `c${n}`, now - n * DAY);
    }
    const [first = "", second = ""] = agents.slice(-2);
    database.run("UPDATE agents SET status = 'stopped', wanted = 'down' WHERE id = ?", [first]);
    database.run("UPDATE agents SET runtime_version = '0.9.0' WHERE id = ?", [second]);
    insertJob.run(Bun.randomUUIDv7(), "mail", now, "The mail server refused the sender (550).", now - DAY);
    insertJob.run(Bun.randomUUIDv7(), "lifecycle.strangers-out", now, HOSTILE, now - 2 * DAY);
  })();
  database.close();
}

/** Figures of a day, for charts: the service has only those since its start. */
export function figuresOfADay() {
  const points = Array.from({ length: 288 }, (_, n) => n);
  const wave = (low: number, high: number, shift = 0) =>
    points.map((n) => low + (high - low) * (0.5 + 0.5 * Math.sin((n + shift) / 38)) * (0.85 + ((n * 37) % 17) / 60));
  const rarely = (value: number, every: number) => points.map((n) => (n % every === 0 ? value : 0));
  return {
    from: new Date(Date.now() - 287 * 300_000).toISOString(),
    stepSeconds: 300,
    figures: {
      requests: wave(300, 2_400),
      serverErrors: rarely(3, 61),
      latencyMs: wave(5, 50, 30),
      turns: wave(10, 190, 20),
      failedTurns: rarely(4, 47),
      channelMessages: wave(12, 210, 18),
      modelCalls: wave(14, 260, 22),
      failedCalls: rarely(6, 53),
      costUsd: wave(0.02, 0.6, 25),
      inbox: wave(0, 24, 40).map(Math.round),
      outbox: wave(0, 9, 10).map(Math.round),
      oldestMs: wave(200, 4_000),
      memoryBytes: wave(96e6, 152e6, 60),
      lagMs: rarely(38, 23),
    },
  };
}
