// An agent put away and put back: backups, what is restored from one, what is forgotten, what is mended.
import { GuardFailed, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Host } from "../../../src/kernel/plugin.ts";
import { agentNotFound, agents } from "../../agents/index.ts";
import type { MessageRow, SessionExtent, SessionRow } from "../../runtime/index.ts";
import { DamagedFile, readElements } from "./backup-file.ts";
import {
  type BackupSnapshot,
  type BackupTableName,
  backupSourcesOf,
  backupTablesOf,
  createSnapshotReader,
  OPTIONAL_TABLES,
} from "./backup-sources.ts";
import { createBackupStore } from "./backup-store.ts";

/** What is done with all that belongs to an agent. Calls for one agent come one after the other. */
export interface AgentBackups {
  /**
   * Writes a backup: configuration, credentials (sealed as they are), memories, sessions, reminders, bots and who may
   * talk to them. All of one moment. 500 `BACKUP_FAILED`: nothing was written.
   */
  write(agentId: string): Promise<{ path: string }>;
  /**
   * Does the work while this backup is kept, however many are written. 400 `UNKNOWN_BACKUP` for anything but the path of
   * a backup of this agent, 400 `DAMAGED_BACKUP` for one that is not what was written, 400 `NEWER_BACKUP` for one of a
   * later Berth; nothing is done then.
   */
  withBackup<Result>(agentId: string, path: string, work: (backup: BackupInfo) => Promise<Result>): Promise<Result>;
  /**
   * Puts everything back in one write, but for the status and for what waits in inbox and outbox. Refuses like
   * `keeping`, with nothing changed. `also` is part of that write. To be called while no turn runs.
   */
  restore(agentId: string, path: string, statementsAfter?: readonly Statement[]): Promise<void>;
  /** Forgets sessions, memories and reminders; the rest stays. To be called while no turn runs. */
  eraseMemory(agentId: string): Promise<void>;
  /** Mends what is not as it should be; answers in words what it was. To be called while no turn runs. */
  repair(agentId: string): Promise<string[]>;
}

export interface BackupInfo {
  /** Of the runtime that the agent had. */
  runtimeVersion: string;
}

const FORMAT = "berth.backup";
const VERSION = 1;
const DAY = 86_400_000;

/** What a backup holds of a moment. */
type StoredSnapshot = Omit<BackupSnapshot, (typeof OPTIONAL_TABLES)[number]> & Partial<BackupSnapshot>;

/** What a backup holds, but for its messages. */
interface BackupContents {
  snapshot: StoredSnapshot;
  extents: Map<string, SessionExtent>;
}

export function createAgentBackups(host: Host): AgentBackups {
  const { database, config, jobs, log } = host.kernel;
  const agentService = host.use(agents);
  const sources = backupSourcesOf(host);
  const tables = backupTablesOf(sources);
  const readSnapshot = createSnapshotReader(database, tables);
  const store = createBackupStore({ dataDir: config.dataDir, log });

  agentService.onDelete((agentId) => store.remove(agentId));
  jobs.every("lifecycle.sweep-backups", DAY, () =>
    store.deleteOrphans(async (agentId) => (await agentService.find(agentId)) !== undefined),
  );

  async function* elementsOf(agentId: string, snapshot: BackupSnapshot): AsyncGenerator<string, void> {
    yield JSON.stringify({ format: FORMAT, version: VERSION, agentId, takenAt: new Date().toISOString() });
    const { messages, ...small } = snapshot;
    for (const [part, rows] of Object.entries(small)) yield `{"part":"${part}","rows":${rows}}`;
    // Numbers, as the query gave them.
    for await (const rows of sources.runtime.messagePages(JSON.parse(messages) as number[])) {
      yield `{"part":"messages","rows":${rows}}`;
    }
  }

  /** Reads a whole backup once: nothing is changed for one that is not good to its end. */
  async function readContents(agentId: string, file: string): Promise<BackupContents> {
    const found = new Map<string, string>();
    const extents = new Map<string, SessionExtent>();
    let header: unknown;
    for await (const element of readElements(file)) {
      if (header === undefined) {
        header = element;
        requireHeader(element, agentId);
        continue;
      }
      const { part, rows } = parseElement(element);
      if (part === "sessions") {
        for (const { id } of rows as SessionRow[]) extents.set(id, { count: 0, last: 0, lastId: "" });
      }
      if (part !== "messages") found.set(part, JSON.stringify(rows));
      else for (const row of rows as MessageRow[]) extendExtent(extents, row);
    }
    const names = (Object.keys(tables) as BackupTableName[]).filter(
      (name) => !["messages", ...OPTIONAL_TABLES].includes(name),
    );
    if (!names.every((name) => found.has(name))) throw new DamagedFile("Not everything is in it.");
    return { snapshot: { ...(Object.fromEntries(found) as StoredSnapshot), messages: "[]" }, extents };
  }

  async function* readMessages(file: string): AsyncGenerator<readonly MessageRow[], void> {
    let first = true;
    for await (const element of readElements(file)) {
      const { part, rows } = first ? { part: "", rows: [] } : parseElement(element);
      first = false;
      if (part === "messages") yield rows as MessageRow[];
    }
  }

  /** Throws 400 for what is wrong with the file. */
  async function openBackup(agentId: string, path: string): Promise<{ file: string; found: BackupContents }> {
    const file = await store.pin(agentId, path);
    try {
      return { file, found: await readContents(agentId, file) };
    } catch (cause) {
      store.unpin(path);
      if (!(cause instanceof DamagedFile)) throw cause;
      const text = "This backup is damaged, so nothing was changed. Choose another one.";
      throw new AppError(400, "DAMAGED_BACKUP", text, {}, { cause });
    }
  }

  /** What is left over is cleared away by a job too: the work itself is done. */
  const clearLeftovers = (agentId: string, clear: () => Promise<void>) =>
    clear().catch((error: unknown) => log.warn("an agent's old sessions could not be cleared yet", { agentId, error }));

  async function restoreContents(
    agentId: string,
    file: string,
    { snapshot, extents }: BackupContents,
    statementsAfter: readonly Statement[],
  ): Promise<void> {
    const channelRestore = await sources.channels.restore(agentId, snapshot);
    const sessionChange = await sources.runtime.restore(agentId, snapshot.sessions, extents, readMessages(file));
    try {
      await database.write([
        ...sources.agents.restoreStatements(agentId, snapshot, channelRestore.tokens),
        ...sources.skills.restoreStatements(agentId, snapshot),
        ...(snapshot.cache === undefined ? [] : sources.ai.restoreStatements(agentId, { cache: snapshot.cache })),
        ...sessionChange.statements,
        ...channelRestore.statements,
        ...statementsAfter,
      ]);
    } catch (error) {
      throw error instanceof GuardFailed ? agentNotFound() : error;
    } finally {
      await clearLeftovers(agentId, sessionChange.cleanUp);
    }
  }

  return {
    async write(agentId) {
      const snapshot = await readSnapshot(agentId);
      if (snapshot.agent === "[]") throw agentNotFound();
      const path = await store.write(agentId, elementsOf(agentId, snapshot));
      if (await agentService.find(agentId)) return { path };
      await store.remove(agentId);
      throw agentNotFound();
    },

    async withBackup(agentId, path, work) {
      const { found } = await openBackup(agentId, path);
      try {
        return await work({ runtimeVersion: runtimeVersionOf(found.snapshot) });
      } finally {
        store.unpin(path);
      }
    },

    async restore(agentId, path, statementsAfter = []) {
      const { file, found } = await openBackup(agentId, path);
      try {
        await restoreContents(agentId, file, found, statementsAfter);
      } finally {
        store.unpin(path);
      }
    },

    async eraseMemory(agentId) {
      const sessionChange = sources.runtime.erase(agentId);
      await database.write([...sources.resetStatements(agentId), ...sessionChange.statements]);
      await clearLeftovers(agentId, sessionChange.cleanUp);
    },

    async repair(agentId) {
      const { agents, skills, runtime, channels } = sources;
      const found: string[] = [];
      for (const source of [runtime, skills, channels, agents]) found.push(...(await source.repair(agentId)));
      return found;
    },
  };
}

function extendExtent(extents: Map<string, SessionExtent>, { session, seq, id }: MessageRow): void {
  const extent = extents.get(session);
  if (!extent) throw new DamagedFile("A message without its session.");
  extents.set(session, { count: extent.count + 1, last: seq, lastId: id });
}

function requireHeader(element: unknown, agentId: string): void {
  const of = (name: string): unknown =>
    typeof element === "object" && element !== null ? Reflect.get(element, name) : undefined;
  if (of("format") !== FORMAT || of("agentId") !== agentId) throw new DamagedFile("It is not a backup of this agent.");
  if (of("version") === VERSION) return;
  throw new AppError(
    400,
    "NEWER_BACKUP",
    "This backup was written by a later version of Berth, which alone can read it.",
  );
}

function runtimeVersionOf({ agent }: StoredSnapshot): string {
  const [row]: unknown[] = JSON.parse(agent);
  const version: unknown = typeof row === "object" && row !== null ? Reflect.get(row, "runtimeVersion") : undefined;
  return String(version);
}

function parseElement(element: unknown): { part: string; rows: unknown[] } {
  if (typeof element === "object" && element !== null && "part" in element && "rows" in element) {
    const { part, rows } = element;
    if (typeof part === "string" && Array.isArray(rows)) return { part, rows };
  }
  throw new DamagedFile("A line that is no part.");
}
