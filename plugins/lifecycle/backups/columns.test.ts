// Tests that backups are complete: changes every column of every table of an agent and compares the backup rows.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { InValue, ResultSet } from "@libsql/client";
import { type Connection, openConnection, openReadOnly } from "../../../src/kernel/database/connection.ts";
import type { Agent } from "../../agents/index.ts";
import { backupTablesOf, createSnapshotReader } from "./backup-sources.ts";
import { type Harness, openHarness } from "./support.test.ts";

const KEY = "names the agent, whose id is in the backup's header";
const DERIVED = "calculated from other rows on restore";
const REGISTRATION = "the last registration at the platform; a restored bot is registered again";
const PRESENT = "the present state, which a restore does not change";
const NOT_DATA = "work under way, records and secrets of the service, which a restore must not take back";

/**
 * The columns that are not in a backup, each with its reason; `*` stands for all columns of a table. The list is
 * compared exactly, so a new column must be added to the backup rows of its plugin or here.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "agents.id": KEY,
  "agents.user_id": "the owner; a restore doesn't give the agent back to a former owner",
  "agents.subdomain": "the public address, which never changes",
  "agents.status": PRESENT,
  "agents.status_reason": PRESENT,
  "agents.wanted": PRESENT,
  "agents.started_at": PRESENT,
  "agents.frozen_at": PRESENT,
  "agents.frozen_reason": PRESENT,
  "agents.owner_frozen": PRESENT,
  "agents.thawed_status": PRESENT,
  "agents.created_at": "never changes",
  "agents.updated_at": "the time of the restore",
  "agents.verified": "the proof may have been withdrawn since the backup",
  "agents.verification_type": "as agents.verified",
  "agents.attestation_uid": "as agents.verified",
  "agents.verifier_address": "as agents.verified",
  "agents.verified_at": "as agents.verified",
  "agents.verification_metadata": "as agents.verified",
  "agent_configs.agent_id": KEY,
  "agent_skills.agent_id": KEY,
  "channel_connections.agent_id": KEY,
  "channel_connections.registered_at": REGISTRATION,
  "channel_connections.registered_base": REGISTRATION,
  "channel_connections.resume": "the position in the platform's stream of events, which is old by then",
  "credentials.owner_id": KEY,
  "credentials.owner_kind": KEY,
  "mcp_servers.*": "found again by the next connection; the servers are in the configuration",
  "mcp_sign_ins.*": "a secret; a refresh token that was used since must not be used again",
  "memories.agent_id": KEY,
  "memory_vectors.*": DERIVED,
  "memories.seq": "assigned on restore",
  "messages.agent_id": KEY,
  "pairings.agent_id": KEY,
  "pairings.language": "of a request: the welcome is sent when it is approved",
  "pairings.code": "only approved pairings are in a backup; they have no code",
  "pairings.expires_at": "as pairings.code",
  "pause_notices.*": NOT_DATA,
  "public_pages.agent_id": KEY,
  "reminders.agent_id": KEY,
  "reminders.fired_at": "only reminders that have not fired are in a backup",
  "response_caches.agent_id": KEY,
  "schedule_runs.*": NOT_DATA,
  "schedules.agent_id": KEY,
  "schedules.failures": PRESENT,
  "schedules.last_run_at": PRESENT,
  "schedules.last_status": PRESENT,
  "sessions.agent_id": KEY,
  "sessions.message_count": DERIVED,
  "sessions.summary_upto": "stored as the number of summarized messages, since messages get new numbers on restore",
  "agent_hours.*": NOT_DATA,
  "agent_imports.*": "notices a second import; a copy of the agent is no import of the folder",
  "agent_logs.*": NOT_DATA,
  "agent_updates.*": NOT_DATA,
  "budget_notices.*": NOT_DATA,
  "approvals.*": "a decision for one call at one time; a restore must not allow it again",
  "claims.*": NOT_DATA,
  "erasures.*": "receipts of what no backup may bring back",
  "events.*": NOT_DATA,
  "gateway_tokens.*": "a secret; a token that was replaced must not become valid again",
  "inbox.*": NOT_DATA,
  "knowledge_chunks.position": "the place in the file's list",
  "knowledge_chunks.seq": "assigned on restore",
  "knowledge_files.agent_id": KEY,
  "knowledge_files.chunks": DERIVED,
  "knowledge_files.expected": PRESENT,
  "knowledge_files.written": PRESENT,
  "knowledge_vectors.*": DERIVED,
  "live_streams.*": "a secret; a stream key that was replaced must not become valid again",
  "loaded_skills.agent_id": KEY,
  "outbox.*": NOT_DATA,
  "turn_counts.*": NOT_DATA,
  "turn_steps.*": "the journal of turns, as the inbox; a reply keeps its steps",
  "web_searches.*": "the count of a day, which a restore must not set back",
  "upload_uses.*": "as uploads",
  "uploads.*":
    "files of messages are too large for backups, and stay where they are: a restored message finds those that still exist",
  "usage.*": NOT_DATA,
  "usage_agent_months.*": NOT_DATA,
  "usage_days.*": NOT_DATA,
  "usage_step.*": NOT_DATA,
  "verification_challenges.*": NOT_DATA,
  "wallet_spends.*": NOT_DATA,
};

/** Which column names the agent, in tables without `agent_id`. */
const AGENT_COLUMNS: Readonly<Record<string, string>> = {
  agents: "id",
  budget_notices: "whose",
  credentials: "owner_id",
};

type Values = Readonly<Record<string, InValue>>;
interface Column {
  name: string;
  type: string;
}
interface Table {
  name: string;
  agentColumn: string;
  columns: readonly Column[];
}

let harness: Harness;
let agent: Agent;
beforeAll(async () => {
  harness = await openHarness();
  agent = await harness.agentWithHistory();
  const backend = harness.kernel.database;
  await backend.write(
    [
      "INSERT INTO response_caches (agent_id, max_age_s) VALUES (?, 90)",
      `INSERT INTO public_pages (agent_id, enabled, greeting, updated_at, embed_origins)
        VALUES (?, 1, 'Ahoy', 7, '["https://www.example.com"]')`,
      `INSERT INTO schedules (id, agent_id, name, prompt, cron, timezone, deliver, missed, enabled, status_reason, taint, origin,
          digest, session_id, next_run_at, created_at, updated_at)
        VALUES ('sch-1', ?, 'Tea', 'Make tea.', '@daily', 'UTC', '{"webhook":true}', 'once', 1, 'none', 1, 'config', 'd', 's', 9e14, 1, 2)`,
      `INSERT INTO knowledge_files (id, agent_id, name, type, size, url, refresh, etag, digest, status, chunks, generation, title,
          published, is_cut, error_code, error, origin, created_at, read_at)
        VALUES ('file-1', ?, 'Tea', 'text/html', 9, 'https://example.com', 'day', 'e', 'd', 'ready', 1, 3, 'On tea', '2024', 1,
          'C', 'no', 'owner', 4, 5)`,
      `INSERT INTO knowledge_chunks (agent_id, file_id, generation, position, page, heading, text)
        VALUES (?, 'file-1', 3, 0, 2, 'Green', 'Mild')`,
      // Without messages: a change of its id leaves the other parts as they are.
      `INSERT INTO sessions (id, agent_id, platform, peer, summary, created_at, last_activity_at)
        VALUES ('sess_0', ?, 'channel_a', 'chat-1', 'They met.', 1, 2)`,
      "INSERT INTO loaded_skills (session_id, agent_id, skill_id, loaded_at) VALUES ('sess_0', ?, 'folder:tea', 3)",
      "UPDATE agents SET tier = 'pro' WHERE id = ?",
      "UPDATE channel_connections SET detail = 'numbers' WHERE agent_id = ?",
    ].map((sql) => ({ sql, args: [agent.id] })),
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

test("every column of an agent's tables is in its backup or a documented exception", async () => {
  const copy = openCopy();
  try {
    const missing: string[] = [];
    for (const table of tablesOf(copy)) {
      const row = findRow(copy, table) ?? insertRow(copy, table);
      const before = await readParts(copy);
      const notFound: string[] = [];
      for (const { name, type } of table.columns) {
        const changed = { ...row, [name]: nextValue(copy, `${table.name}.${name}`, type, row[name] ?? null) };
        replaceRow(copy, table.name, row, changed);
        if (!differs(before, await readParts(copy))) notFound.push(`${table.name}.${name}`);
        replaceRow(copy, table.name, changed, row);
      }
      missing.push(...(notFound.length === table.columns.length ? [`${table.name}.*`] : notFound));
    }
    expect(missing.sort()).toEqual(Object.keys(EXCEPTIONS).sort());
  } finally {
    copy.close();
  }
});

test("all rows but the exceptions are the same after everything was erased and restored", async () => {
  const tables = tablesInBackup();
  const before = await dumpRows(tables);
  for (const rows of Object.values(before)) expect(rows).not.toEqual([]);
  const { path } = await harness.backups.write(agent.id);

  const erase = tables
    .filter(({ name }) => name !== "agents")
    .map(({ name, agentColumn }) => ({ sql: `DELETE FROM ${name} WHERE ${agentColumn} = ?`, args: [agent.id] }));
  await harness.kernel.database.write([
    ...erase,
    {
      sql: "UPDATE agents SET name = 'Other', model = 'model_a', tier = NULL, runtime_version = '0' WHERE id = ?",
      args: [agent.id],
    },
  ]);
  // The plugins' caches must not answer for the rows that are gone.
  await harness.restart();
  for (const [name, rows] of Object.entries(await dumpRows(tables))) {
    if (name !== "agents") expect({ name, rows }).toEqual({ name, rows: [] });
  }

  // Restored files are read again, which may write what went wrong.
  await harness.kernel.jobs.stop(0);
  await harness.backups.restore(agent.id, path);
  expect(await dumpRows(tables)).toEqual(before);
});

/** A copy of the database without its constraints and triggers, so that a column can take any value of its type. */
function openCopy(): Connection {
  const path = harness.file("copy.db");
  const original = openReadOnly(harness.databaseFile);
  original.run("VACUUM INTO ?", [path]);
  original.close();
  const copy = openConnection(path);
  copy.run("PRAGMA foreign_keys = OFF");
  copy.run("PRAGMA ignore_check_constraints = ON");
  for (const { name } of copy.run("SELECT name FROM sqlite_schema WHERE type = 'trigger'").rows) {
    copy.run(`DROP TRIGGER ${name}`);
  }
  return copy;
}

/** The tables with rows of single agents: by the schema, so that a new migration is found. */
function tablesOf({ run }: Pick<Connection, "run">): Table[] {
  const names = run("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").rows.map(
    (row) => `${row.name}`,
  );
  const referencesAgents = (name: string): boolean =>
    run(`SELECT "table" AS target FROM pragma_foreign_key_list(?)`, [name]).rows.some(
      ({ target }) => target === "agents" || (target !== name && referencesAgents(String(target))),
    );
  return names.flatMap((name) => {
    const columns = run("SELECT name, type FROM pragma_table_xinfo(?)", [name]).rows.map((row) => ({
      name: String(row.name),
      type: String(row.type),
    }));
    const agentColumn = AGENT_COLUMNS[name] ?? columns.find((column) => column.name === "agent_id")?.name ?? undefined;
    if (agentColumn !== undefined) return [{ name, agentColumn, columns }];
    if (referencesAgents(name)) throw new Error(`${name} references agents: name its column in AGENT_COLUMNS.`);
    return [];
  });
}

function tablesInBackup(): Table[] {
  const connection = openReadOnly(harness.databaseFile);
  try {
    return tablesOf(connection).filter(({ name }) => EXCEPTIONS[`${name}.*`] === undefined);
  } finally {
    connection.close();
  }
}

/** A row of the agent that is in the backup, where the table has one. */
function findRow(copy: Connection, { name, agentColumn, columns }: Table): Values | undefined {
  const sessionFirst = name === "sessions" ? "ORDER BY id <> 'sess_0'" : "";
  const { rows } = copy.run(`SELECT * FROM ${name} WHERE ${agentColumn} = ? ${sessionFirst} LIMIT 1`, [agent.id]);
  const [row] = rows;
  return row && Object.fromEntries(columns.map((column) => [column.name, row[column.name] ?? null]));
}

const FIRST_VALUES: Readonly<Record<string, InValue>> = { TEXT: "x", BLOB: new Uint8Array([1]) };

function insertRow(copy: Connection, { name, agentColumn, columns }: Table): Values {
  const row: Values = {
    ...Object.fromEntries(columns.map(({ name, type }) => [name, FIRST_VALUES[type] ?? 1])),
    [agentColumn]: agent.id,
  };
  const marks = columns.map(() => "?").join(", ");
  const names = columns.map((column) => column.name);
  copy.run(`INSERT INTO ${name} (${names.join(", ")}) VALUES (${marks})`, Object.values(row));
  return row;
}

/** Another value of the column's type that no other row has. */
function nextValue(copy: Connection, column: string, type: string, value: InValue): InValue {
  if (column === "messages.session_id") {
    // Messages are found by their session, so the other value is another session of the agent.
    const other = copy.run("SELECT id FROM sessions WHERE agent_id = ? AND id <> ?", [agent.id, value]).rows[0]?.id;
    return String(other);
  }
  if (type === "BLOB") return new Uint8Array([2]);
  if (type === "TEXT") return value === null ? "x" : `${value}x`;
  return Number(value ?? 0) + 1_000_000;
}

function replaceRow(copy: Connection, table: string, from: Values, to: Values): void {
  const assignments = Object.keys(to).map((name) => `${name} = ?`);
  const conditions = Object.keys(from).map((name) => `${name} IS ?`);
  const sql = `UPDATE ${table} SET ${assignments.join(", ")} WHERE ${conditions.join(" AND ")}`;
  const { rowsAffected } = copy.run(sql, [...Object.values(to), ...Object.values(from)]);
  if (rowsAffected !== 1) throw new Error(`${rowsAffected} rows of ${table} were changed.`);
}

type Parts = Readonly<Record<string, readonly unknown[]>>;

/** The backup of the agent as it would be written from this database. */
async function readParts(copy: Connection): Promise<Parts> {
  const read = async (sql: string, args: readonly InValue[] = []): Promise<ResultSet> => copy.run(sql, args);
  const database = { read, readLong: read };
  harness.reading.from = database;
  try {
    const { messages: seqs, ...texts } = await createSnapshotReader(
      database,
      backupTablesOf(harness.sources),
    )(agent.id);
    const messages: unknown[] = [];
    for await (const page of harness.sources.runtime.messagePages(JSON.parse(seqs))) messages.push(...JSON.parse(page));
    const parts = Object.entries(texts).map(([name, text]): [string, unknown[]] => [name, JSON.parse(text)]);
    return { ...Object.fromEntries(parts), messages };
  } finally {
    harness.reading.from = undefined;
  }
}

/** Whether a value in a part differs. A part that lost a row was only filtered by the column, which is no content. */
function differs(before: Parts, after: Parts): boolean {
  // Nor is the order of rows content: it may follow a column that is not in them.
  const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
  return Object.entries(before).some(([name, rows]) => {
    const changed = after[name] ?? [];
    return changed.length === rows.length && !Bun.deepEquals(sorted(changed), sorted(rows));
  });
}

/** All rows of the agent but for the exceptions and the numbers of messages, which are assigned on restore. */
async function dumpRows(tables: readonly Table[]): Promise<Record<string, unknown[]>> {
  const dump: Record<string, unknown[]> = {};
  for (const { name, agentColumn, columns } of tables) {
    const kept = columns
      .map((column) => column.name)
      .filter((column) => EXCEPTIONS[`${name}.${column}`] === undefined && `${name}.${column}` !== "messages.seq");
    const rows = await harness.rows(`SELECT ${kept.join(", ")} FROM ${name} WHERE ${agentColumn} = ?`, agent.id);
    dump[name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return dump;
}
