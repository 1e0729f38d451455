// Writes a copy of all of a person's data as one archive: a gzipped tar with JSON files, and the files themselves.
import { accessSync, constants, createWriteStream, existsSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import type { Database } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Agent } from "../../agents/index.ts";
import { AUDIT_OF } from "../jobs.ts";
import { argumentsFor, copySql, DELETIONS, FILES, parametersOf } from "./deletions.ts";
import { agentsOf, findTraces } from "./find-traces.ts";
import { ACCOUNT, type Subject } from "./subject.ts";

export interface ExportDeps {
  cells: Pick<Cells, "others" | "ask"> | undefined;
  database: Pick<Database, "read" | "readLong">;
  agentsOfAccount(userId: string): Promise<readonly Agent[]>;
  /** An agent as `GET /api/agents/:id/export` gives it. */
  exportAgent(agent: Agent): Promise<AsyncGenerator<string, void>>;
  readUpload(agentId: string, id: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

interface Entry {
  name: string;
  bytes: Uint8Array;
}

/** ?1: the account. Without secrets: neither hashes of passwords and keys nor sealed texts. */
const OF_ACCOUNT: Readonly<Record<string, [columns: string, rows: string]>> = {
  account: [
    "id, email, name, email_verified, plan, credits, two_factor_enabled, notifications, locale, created_at, updated_at",
    "users WHERE id = ?1",
  ],
  subscription: ["plan, status, current_period_end, updated_at", "subscriptions WHERE user_id = ?1"],
  sessions: ["created_at, renewed_at, expires_at, address, user_agent", "auth_sessions WHERE user_id = ?1"],
  keys: ["name, prefix, scopes, created_at, last_used_at, expires_at", "api_keys WHERE user_id = ?1"],
  signIns: ["provider, subject, label, created_at", "linked_accounts WHERE user_id = ?1"],
  connectedApps: ["name, host, scopes, created_at, last_used_at", "connected_apps WHERE user_id = ?1"],
  wallets: ["kind, name, address, created_at", "wallets WHERE user_id = ?1"],
  walletSpends: [
    "kind, network, address, asset, amount, recipient, state, hash, created_at",
    "wallet_spends WHERE user_id = ?1",
  ],
  payments: ["kind, amount, currency, credits, at", "payments WHERE user_id = ?1"],
  credits: ["kind, credits, balance", "credit_entries WHERE user_id = ?1"],
  usage: [
    "day, provider, model, calls, input_tokens, output_tokens, cost_micro_usd",
    "usage_account_days WHERE user_id = ?1",
  ],
  webhooks: ["url, types, description, active, created_at", "webhook_endpoints WHERE user_id = ?1"],
  skills: ["name, version", "installed_skills WHERE user_id = ?1 AND removed_at IS NULL"],
  responses: ["id, input, response, created_at", "api_responses WHERE user_id = ?1"],
};
const AUDIT: [columns: string, rows: string] = [
  "at, actor_kind, actor_name, action, target_kind, target_id, target_name, details, address",
  "audit_log WHERE actor_id = ?1 OR target_id = ?1",
];

const rowsSql = (columns: string, rows: string) =>
  `SELECT json_group_array(json_object(${columns
    .split(", ")
    .map((column) => `'${column}', ${column}`)
    .join(", ")})) AS rows FROM ${rows}`;

/** Columns of times, which the database has as epoch ms. */
const isTime = (column: string) => /(?:^|_)at$|_end$/.test(column);

/** The rows of a JSON array, with times in ISO 8601. */
function readRows(text: unknown): Record<string, unknown>[] {
  const rows = JSON.parse(String(text ?? "[]")) as Record<string, unknown>[];
  const readable = ([column, value]: [string, unknown]) => [
    column,
    isTime(column) && typeof value === "number" ? new Date(value).toISOString() : value,
  ];
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(readable)));
}

const jsonEntry = (name: string, value: unknown): Entry => ({
  name,
  bytes: new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`),
});

/** The archive of a person as it is read: only the file that is being packed is in memory. */
export async function openArchive(deps: ExportDeps, subject: Subject): Promise<{ archive: Readable; files(): number }> {
  const { createTarPacker } = await import("modern-tar");
  const { readable, controller } = createTarPacker();
  const entries = subject.channel === ACCOUNT ? ofAccount(deps, subject.id) : ofSender(deps, subject);
  let files = 0;
  async function pack(): Promise<void> {
    for await (const { name, bytes } of entries) {
      const writer = controller.add({ name, size: bytes.byteLength, type: "file", mode: 0o600 }).getWriter();
      await writer.write(bytes);
      await writer.close();
      files++;
    }
    controller.finalize();
  }
  // The reader gets the error, too.
  void pack().catch((error: unknown) => controller.error(error));
  const archive = createGzip();
  const packed = Readable.fromWeb(readable as Parameters<typeof Readable.fromWeb>[0]);
  packed.on("error", (error) => archive.destroy(error)).pipe(archive);
  archive.on("close", () => packed.destroy());
  return { archive, files: () => files };
}

/**
 * Writes the archive as a whole, readable by its owner only. Returns its size and the number of its files. `record` runs before the
 * archive has its name.
 */
export async function writeExport(
  deps: ExportDeps,
  subject: Subject,
  file: string,
  record: (counts: { files: number }) => Promise<void>,
) {
  requireNew(file);
  const unfinished = `${file}.unfinished`;
  try {
    const { archive, files } = await openArchive(deps, subject);
    await pipeline(archive, createWriteStream(unfinished, { mode: 0o600 }));
    await record({ files: files() });
    await rename(unfinished, file);
    return { file, bytes: (await stat(file)).size, files: files() };
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Throws 409 for a file that exists, 404 where its folder is missing. */
function requireNew(file: string): void {
  const folder = dirname(file);
  if (existsSync(file)) {
    const says = `The file ${file} exists already, and is not overwritten. Name another one with --out.`;
    throw new AppError(409, "FILE_EXISTS", says);
  }
  if (!existsSync(folder)) {
    const says = `The folder ${folder} does not exist. Make it, or name another file with --out.`;
    throw new AppError(404, "FOLDER_NOT_FOUND", says);
  }
  try {
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const says = `The service may not write to the folder ${folder}. Name another file with --out.`;
    throw new AppError(403, "FOLDER_NOT_WRITABLE", says, {}, { cause });
  }
}

/** JSON rows of what this cell's audit log has of an account. */
export async function readAuditOf({ readLong }: Pick<Database, "readLong">, userId: string): Promise<string> {
  const { rows } = await readLong(rowsSql(...AUDIT), [userId]);
  return String(rows[0]?.rows ?? "[]");
}

/** Entries stay in the cell in which something happened; those of moves are in cell 0. */
async function auditOfAccount({ database, cells }: ExportDeps, userId: string): Promise<Record<string, unknown>[]> {
  const found = await Promise.all([
    readAuditOf(database, userId),
    ...(cells?.others ?? []).map((cell) => cells?.ask(cell, AUDIT_OF, userId)),
  ]);
  return found.flatMap(readRows).toSorted((one, other) => String(one.at).localeCompare(String(other.at)));
}

async function* ofAccount(deps: ExportDeps, userId: string): AsyncGenerator<Entry, void> {
  for (const [name, [columns, rows]] of Object.entries(OF_ACCOUNT)) {
    const found = await deps.database.readLong(rowsSql(columns, rows), [userId]);
    yield jsonEntry(`${name}.json`, readRows(found.rows[0]?.rows));
  }
  yield jsonEntry("audit.json", await auditOfAccount(deps, userId));
  for (const agent of await deps.agentsOfAccount(userId)) {
    const parts: string[] = [];
    for await (const part of await deps.exportAgent(agent)) parts.push(part);
    yield { name: `agents/${agent.id}.json`, bytes: new TextEncoder().encode(parts.join("")) };
    const { rows } = await deps.database.read("SELECT id, name FROM uploads WHERE agent_id = ?", [agent.id]);
    yield* filesOf(deps, agent.id, rows);
  }
}

async function* ofSender(deps: ExportDeps, subject: Subject): AsyncGenerator<Entry, void> {
  for (const agentId of await agentsOf(deps.database, subject)) {
    const traces = await findTraces(deps.database, agentId, subject);
    const all = parametersOf(traces, subject);
    const copy: Record<string, unknown> = {};
    for (const deletion of DELETIONS.filter(({ copied }) => copied !== undefined)) {
      const sql = copySql(deletion);
      const { rows } = await deps.database.readLong(sql, argumentsFor(sql, all));
      copy[deletion.kind] = readRows(rows[0]?.rows);
    }
    yield jsonEntry(`agents/${agentId}.json`, copy);
    const { rows } = await deps.database.read(FILES, [agentId, JSON.stringify(traces.entries)]);
    yield* filesOf(deps, agentId, rows);
  }
}

async function* filesOf(
  { readUpload }: ExportDeps,
  agentId: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): AsyncGenerator<Entry, void> {
  for (const { id, name } of rows) {
    const bytes = await readUpload(agentId, String(id));
    // A name is the sender's: only its last part, so that unpacking writes nowhere else.
    if (bytes) yield { name: `files/${agentId}/${String(id)}-${basename(String(name)).slice(-80)}`, bytes };
  }
}
