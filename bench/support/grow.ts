// Fills a database as years of use would: many accounts and agents, a busy agent, messages, and a ledger of millions of calls.
import { Database } from "bun:sqlite";
import { join } from "node:path";

export interface Growth {
  /** Owns `agents` and everything of the busy agent. */
  userId: string;
  /** Agents of this account. */
  agents: number;
  /** Agents of other accounts, 100 each. */
  otherAgents: number;
  /** Conversations of the busy agent. Each has 50 messages. */
  conversations: number;
  /** Messages of the other agents. */
  otherMessages: number;
  /** Rows of the ledger. */
  calls: number;
}

/** As many as an instance has after some years. */
export const LARGE = {
  agents: 10_000,
  otherAgents: 90_000,
  conversations: 10_000,
  otherMessages: 500_000,
  calls: 5_000_000,
};

const MESSAGES = 50;
const TOPICS = 100;
const DAYS = 400;
const DAY = 86_400_000;
const KEPT_HOURS_MS = 35 * DAY;
/** Lines that Berth keeps of an agent's log. */
const LOG_LINES = 2_000;

/** Ids as Berth makes them, in the order of time: `n` of the rows, `at` in ms. */
const idAt = (at: string, n: string) =>
  `printf('%s-%s-7%03x-8%03x-%012x', substr(printf('%012x', ${at}), 1, 8), substr(printf('%012x', ${at}), 9), (${n}) % 4096, ((${n}) / 4096) % 4096, ${n})`;
const series = (count: number) =>
  `WITH RECURSIVE series (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n + 1 < ${count})`;

/** Fills the database of a service that does not run. Returns the id of the busy agent. */
export function grow(dir: string, growth: Growth): string {
  const { userId, agents, otherAgents, conversations, otherMessages, calls } = growth;
  const database = new Database(join(dir, "data/berth.db"));
  const now = Date.now();
  const begin = now - DAYS * DAY;
  const run = (sql: string, ...args: (string | number)[]) => void database.query(sql).run(...args);
  // Their sums are made at once below: a trigger for each row would take minutes.
  const triggers = database
    .query<{ name: string; sql: string }, []>(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'usage'",
    )
    .all();
  const users = Math.ceil(otherAgents / 100);
  const busy = idOf(begin, 0);
  try {
    database.run("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY");
    database.run("BEGIN");
    for (const { name } of triggers) database.run(`DROP TRIGGER ${name}`);
    run(
      `${series(users)} INSERT INTO users (id, email, name, plan, referral_code, created_at, updated_at)
       SELECT 'user-' || n, 'user-' || n || '@example.com', 'User ' || n, 'enterprise', 'GROWN' || n, ?1, ?1 FROM series`,
      begin,
    );
    run(
      `${series(agents + otherAgents)} INSERT INTO agents
       (id, user_id, name, model, status, wanted, subdomain, runtime_version, started_at, created_at, updated_at)
       SELECT ${idAt("?1 + n", "n")}, CASE WHEN n < ?2 THEN ?3 ELSE 'user-' || ((n - ?2) / 100) END, 'Agent ' || n, 'model_a',
         CASE n % 20 WHEN 7 THEN 'stopped' ELSE 'running' END, CASE n % 20 WHEN 7 THEN 'down' ELSE 'up' END, 'grown-' || n, '1.0.0', ?1, ?1 + n, ?1 + n FROM series`,
      begin,
      agents,
      userId,
    );
    run(
      "INSERT INTO agent_configs (agent_id, version, body, updated_at) SELECT id, 1, '{}', created_at FROM agents WHERE subdomain LIKE 'grown-%'",
    );

    // Conversations of the busy agent, and a few of each thousandth other one.
    const session = (n: string) => `printf('sess_%016x', ${n})`;
    run(
      `${series(conversations)} INSERT INTO sessions (id, agent_id, platform, peer, message_count, created_at, last_activity_at)
       SELECT ${session("n")}, ?1, CASE n % 3 WHEN 0 THEN 'web' WHEN 1 THEN 'api' ELSE 'channel_a' END,
         CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN 'topic-' || n ELSE 'chat-' || n END, ${MESSAGES}, ?2 + n, ?2 + n * 3000000 FROM series`,
      busy,
      begin,
    );
    const quiet = Math.ceil(otherMessages / MESSAGES);
    run(
      `${series(quiet)} INSERT INTO sessions (id, agent_id, platform, message_count, created_at, last_activity_at)
       SELECT ${session(`n + ${conversations}`)}, (SELECT id FROM agents WHERE subdomain = 'grown-' || (1 + (n * 7919) % ${agents + otherAgents - 1})),
         'web', ${MESSAGES}, ?1 + n, ?1 + n * 3000000 FROM series`,
      begin,
    );
    run(
      `INSERT INTO messages (id, session_id, agent_id, inbox_id, platform, role, content, created_at)
       SELECT s.id || '-' || m.n, s.id, s.agent_id, ${idAt(`s.created_at + m.n / 2 * 60000`, "s.rowid * 64 + m.n / 2")}, s.platform,
         CASE m.n % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, 'What the harbour said on its day number ' || m.n || ': ' || hex(randomblob(60)),
         s.created_at + m.n * 30000
       FROM sessions AS s, (${series(MESSAGES)} SELECT n FROM series) AS m WHERE s.id LIKE 'sess_00000000%'`,
    );
    run(
      `INSERT INTO inbox (id, agent_id, session_id, platform, peer, sender_id, sender_name, by_owner, content, topic, status, reply, received_at, settled_at)
       SELECT m.inbox_id, m.agent_id, m.session_id, m.platform, s.peer, 'grown', '', 1, m.content,
         CASE m.platform WHEN 'api' THEN 'topic-' || (s.rowid % ${TOPICS}) END, 'done', m.seq + 1, m.created_at, m.created_at + 900
       FROM messages AS m JOIN sessions AS s ON s.id = m.session_id WHERE m.role = 'user' AND s.id LIKE 'sess_00000000%'`,
    );
    run(
      `INSERT INTO outbox (id, inbox_id, agent_id, platform, peer, body, status, attempts, created_at, sent_at)
       SELECT i.id || '-o', i.id, i.agent_id, i.platform, i.peer, 'The answer', 'sent', 1, i.received_at, i.received_at + 900
       FROM inbox AS i WHERE i.platform = 'channel_a'`,
    );
    run(
      `${series(LOG_LINES)} INSERT INTO agent_logs (id, agent_id, at, level, source, message)
       SELECT ${idAt("?2 + n", "n")}, ?1, ?2 + n, CASE n % 50 WHEN 0 THEN 'error' ELSE 'info' END, 'runtime', 'Line ' || n FROM series`,
      busy,
      now - LOG_LINES,
    );
    run(
      `INSERT INTO events (id, type, user_id, agent_id, data, created_at)
       SELECT id, 'agent.message', ?1, agent_id, '{}', received_at FROM inbox WHERE agent_id = ?2`,
      userId,
      busy,
    );

    // Calls of all agents, half of them of the busy one's account, and the sums over them.
    run(
      `${series(calls)} INSERT INTO usage (id, at, kind, user_id, agent_id, provider, model, input_tokens, output_tokens, cost_micro_usd, latency_ms, estimated)
       SELECT ${idAt("?1 + n * ?2", "n")}, ?1 + n * ?2, 'turn', CASE n % 2 WHEN 0 THEN ?3 ELSE 'user-' || (n % ${users}) END,
         CASE n % 4 WHEN 0 THEN ?4 ELSE (SELECT id FROM agents WHERE subdomain = 'grown-' || ((n * 31) % ${agents})) END,
         'provider_' || (n % 3 + 1), 'model-' || (n % 5), 900, 120, 40 + n % 7, 800, 0 FROM series`,
      begin,
      Math.floor((DAYS * DAY) / calls),
      userId,
      busy,
    );
    const sums = `count(*), sum(cached), sum(estimated), sum(input_tokens), sum(output_tokens), sum(cost_micro_usd), sum(credit_micro_usd)`;
    const [day, month] = ["at / 86400000", "CAST(strftime('%Y%m', at / 1000, 'unixepoch') AS INTEGER)"];
    run(
      `INSERT INTO usage_days SELECT user_id, ${day} AS day, agent_id, provider, model, own_key, ${sums} FROM usage GROUP BY 1, 2, 3, 4, 5, 6`,
    );
    run(
      `INSERT INTO usage_account_days SELECT user_id, ${day} AS day, provider, model, own_key, ${sums} FROM usage GROUP BY 1, 2, 3, 4, 5`,
    );
    run(
      `INSERT INTO usage_agent_months SELECT user_id, ${month} AS month, agent_id, ${sums}, 0 FROM usage GROUP BY 1, 2, 3`,
    );
    run(
      `INSERT INTO agent_hours (agent_id, hour, input_tokens, output_tokens, cost_micro_usd)
       SELECT agent_id, at / 3600000, sum(input_tokens), sum(output_tokens), sum(cost_micro_usd) FROM usage GROUP BY 1, 2`,
    );
    run(
      `INSERT INTO agent_hours (agent_id, hour, received, sent, turns_ok, answer_ms, s1)
       SELECT agent_id, settled_at / 3600000, count(*), count(*), count(*), 900 * count(*), count(*) FROM inbox GROUP BY 1, 2
       ON CONFLICT DO UPDATE SET received = excluded.received, sent = excluded.sent, turns_ok = excluded.turns_ok, answer_ms = excluded.answer_ms, s1 = excluded.s1`,
    );
    // The sums of older hours are deleted each day.
    run(
      `INSERT INTO turn_counts SELECT agent_id, sum(turns_ok + turns_failed) FROM agent_hours WHERE hour < ?1 / 3600000 GROUP BY 1`,
      now - KEPT_HOURS_MS,
    );
    run("DELETE FROM agent_hours WHERE hour < ?1 / 3600000", now - KEPT_HOURS_MS);
    run("UPDATE usage_summed SET upto = (SELECT max(rowid) FROM usage) WHERE id = 1");
    for (const { sql } of triggers) database.run(sql);
    database.run("COMMIT");
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return busy;
  } finally {
    database.close();
  }
}

/** As `idAt`, of row 0. */
const idOf = (at: number, n: number): string => {
  const time = at.toString(16).padStart(12, "0");
  const tail = n.toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tail.padStart(3, "0")}-8000-${tail.padStart(12, "0")}`;
};
