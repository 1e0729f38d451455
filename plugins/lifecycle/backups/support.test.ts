// Test support for backups: the real plugins over a database, a scripted model provider, and agents with history.

import { join } from "node:path";
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { silent } from "../../../tests/support/database.ts";
import { openPluginHost } from "../../../tests/support/plugin-host.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { startUpstream } from "../../../tests/support/upstream.ts";
import { type Agent, agents } from "../../agents/index.ts";
import { auth } from "../../auth/index.ts";
import { channels } from "../../channels/index.ts";
import { runtime } from "../../runtime/index.ts";
import { skills } from "../../skills/index.ts";
import { createAgentBackups } from "./agent-backups.ts";
import { backupSourcesOf, backupTablesOf, createSnapshotReader } from "./backup-sources.ts";

export type Harness = Awaited<ReturnType<typeof openHarness>>;
export type Row = Record<string, unknown>;

/** Starts the plugins, which run until `stop`; `restart` makes new ones over the same data. */
export async function openHarness(env: Record<string, string> = {}) {
  const dir = temporaryDir();
  const upstream = await startUpstream({ key: "sk-test" });
  /** `check` is called before each batch is written, and may throw in its place. */
  const writing = { check: (_: readonly Statement[]): void => undefined };
  /** `from` answers reads in place of the database. */
  const reading: { from: Pick<Database, "read"> | undefined } = { from: undefined };
  let running = await start();

  async function start() {
    const opened = await openPluginHost({
      env: {
        SECRET_KEY: "0".repeat(64),
        CHANNEL_A_API_ROOT: "http://127.0.0.1:1",
        PROVIDER_5_BASE_URL: upstream.url,
        // The prices of its models are not known, so that they count as dear ones.
        AI_PLAN_BUDGETS_USD_PER_MONTH: "free:500",
        AI_UNPAID_BUDGET_USD_PER_DAY: "500",
        PROVIDER_5_API_KEY: "sk-test",
        ...env,
      },
      dir: dir.path,
      log: silent,
      wrapDatabase: (database) => ({
        ...database,
        read: (sql, args) => (reading.from?.read ?? database.read)(sql, args),
        async write(statements: Statement[]) {
          writing.check(statements);
          return database.write(statements);
        },
        async writeLong(statements: Statement[]) {
          writing.check(statements);
          return database.writeLong(statements);
        },
      }),
    });
    const { kernel, host } = opened;
    const backups = createAgentBackups(host);
    const services = {
      agents: host.use(agents),
      skills: host.use(skills),
      runtime: host.use(runtime),
      channels: host.use(channels),
      accounts: host.use(auth),
    };
    await opened.start();
    const sources = backupSourcesOf(host);
    return { opened, kernel, host, services, backups, sources };
  }

  async function stop(): Promise<void> {
    await running.opened[Symbol.asyncDispose]();
  }

  let users = 0;
  const harness = {
    upstream,
    writing,
    reading,
    dir: dir.path,
    get services() {
      return running.services;
    },
    get kernel() {
      return running.kernel;
    },
    get sources() {
      return running.sources;
    },
    get host() {
      return running.host;
    },
    get backups() {
      return running.backups;
    },
    get databaseFile() {
      const { file } = running.kernel.database;
      if (file === undefined) throw new Error("The database is no local file.");
      return file;
    },
    file: (path: string) => join(dir.path, path),

    async agent(): Promise<Agent> {
      const email = `user-${++users}-${crypto.randomUUID()}@example.com`;
      const { id: userId } = await running.services.accounts.users.create({ email, name: "Ada", passwordHash: "none" });
      const config = `{"model":"provider_5:fake-small", "__proto__":{"n":1.0}, "b":1,"a":2}`;
      return running.services.agents.provision({ userId, isAdmin: true, name: "Harbour", model: "custom", config });
    },
    chat(agent: Agent, message: string, more: { sessionId?: string; topic?: string } = {}) {
      const signal = new AbortController().signal;
      const sender = { id: agent.userId, name: "Ada" };
      const platform = more.topic === undefined ? "web" : "api";
      return running.services.runtime.chat({ agent, platform, message, sender, byOwner: true, signal, ...more });
    },
    run: (sql: string, ...args: (string | number | null)[]) => running.kernel.database.write([{ sql, args }]),
    async rows(sql: string, ...args: (string | number)[]): Promise<Row[]> {
      return (await running.kernel.database.read(sql, args)).rows.map((row): Row => ({ ...row }));
    },
    async one(sql: string, ...args: (string | number)[]): Promise<unknown> {
      return Object.values((await harness.rows(sql, ...args))[0] ?? {})[0];
    },
    /** Connects a bot to the agent, with its token. */
    async connect(agent: Agent, bot: string, token = `${bot}:token`): Promise<void> {
      const callback = crypto.randomUUID();
      const secret = running.kernel.vault.seal("a secret", `channel-callback:${callback}`);
      const digest = new Bun.CryptoHasher("sha256").update(token).digest("base64url");
      await harness.run(
        `INSERT INTO channel_connections (agent_id, channel, bot_id, bot_username, token_digest, owner_id, callback_id,
          callback_secret, registered_base, registered_at, created_at) VALUES (?, 'channel_a', ?, ?, ?, '7', ?, ?, 'x', 1, 1)`,
        ...[agent.id, bot, `${bot}_bot`, digest, callback, secret],
      );
      await running.services.agents.credentials.set({ kind: "agent", id: agent.id }, "channel_a", token);
    },
    async pair(agent: Agent, sender: string, approvedAt: number | null = 5): Promise<void> {
      await harness.run(
        `INSERT INTO pairings (agent_id, channel, sender_id, sender_name, peer, code, expires_at, approved_at, created_at)
          VALUES (?, 'channel_a', ?, 'Bob', 'chat-1', ?, ?, ?, 1)`,
        ...[agent.id, sender, approvedAt === null ? sender : null, approvedAt === null ? 9 : null, approvedAt],
      );
    },
    async remind(agent: Agent, text: string, dueAt: number): Promise<string> {
      const id = Bun.randomUUIDv7();
      await harness.run(
        `INSERT INTO reminders (id, agent_id, session_id, platform, peer, by_owner, text, dedupe, due_at, created_at)
          VALUES (?1, ?2, 'sess_0', 'channel_a', 'chat-1', 1, ?3, ?1, ?4, 1)`,
        ...[id, agent.id, text, dueAt],
      );
      return id;
    },
    /** An agent with rows in most parts of a backup. */
    async agentWithHistory(): Promise<Agent> {
      const agent = await harness.agent();
      const own = { kind: "agent", id: agent.id } as const;
      const { agents, skills } = running.services;
      await agents.saveConfig(agent.id, `{"model":"provider_5:fake-small","instructions":"Ünïcode 🚢 \\u2028 ok"}`);
      await agents.credentials.set(own, "provider_5", "sk-secret-of-ada");
      await skills.setEnabled(agent.id, "clock", false);
      await skills.memories.remember({ agentId: agent.id, content: "The ship is called Ada", source: "owner" });
      await skills.memories.remember({
        agentId: agent.id,
        content: "Bob likes tea",
        source: "agent",
        audience: { byOwner: false, platform: "channel_a", peer: "chat-1" },
      });
      await harness.remind(agent, "water the plants", Date.now() + DAY);
      await harness.connect(agent, `bot-${agent.id}`);
      await harness.pair(agent, "42");
      await agents.credentials.set(own, "provider_5", "sk-test");
      for (const message of ["one", "two", "three"]) await harness.chat(agent, `${message} 🚢`);
      await harness.chat(agent, "of a topic", { topic: "Travel" });
      return agent;
    },
    /** The parts of the agent's backup as it would be written now, without the numbers of messages. */
    async dumpBackup(agent: Agent): Promise<Record<string, unknown>> {
      const read = createSnapshotReader(running.kernel.database, backupTablesOf(running.sources));
      const { messages, ...parts } = await read(agent.id);
      const contents: unknown[] = [];
      for await (const page of running.sources.runtime.messagePages(JSON.parse(messages))) {
        contents.push(...(JSON.parse(page) as Row[]).map(({ seq: _, ...row }) => row));
      }
      const rows = Object.entries(parts).map(([name, text]) => [name, sorted(JSON.parse(text))]);
      return { ...Object.fromEntries(rows), messages: contents };
    },
    stop,
    /** Stops the plugins and starts new ones over the same data, as a restart of the process does. */
    async restart() {
      await stop();
      running = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await upstream.stop();
      dir.remove();
    },
  };
  return harness;
}

const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
