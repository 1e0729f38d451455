// Writes and restores backups of agents, resets their memory and repairs their state, over the backup rows of all
// plugins.
import { GuardFailed, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Host } from "../../../src/kernel/plugin.ts";
import { parseElements } from "../../../src/kernel/util/json-text.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { agentNotFound, agents } from "../../agents/index.ts";
import type { MessageRow, SessionExtent, SessionRow } from "../../runtime/index.ts";
import { DamagedFile, readElements } from "./backup-file.ts";
import { type BackupReason, reasonOf } from "./backup-reason.ts";
import {
  type BackupSnapshot,
  type BackupTableName,
  backupSourcesOf,
  backupTablesOf,
  createSnapshotReader,
  OPTIONAL_TABLES,
} from "./backup-sources.ts";
import { createBackupStore, type StoredBackup } from "./backup-store.ts";

/** Operations on all data of an agent. The caller runs them one at a time for each agent. */
export interface AgentBackups {
  /**
   * Writes a backup of one moment: configuration, credentials (still sealed), memories, sessions, reminders, bots,
   * approved pairings, public page. Throws 500 `BACKUP_FAILED` when nothing was written.
   */
  write(agentId: string, reason?: BackupReason): Promise<{ path: string }>;
  /** The backups of an agent, newest first. */
  list(agentId: string): Promise<ListedBackup[]>;
  /** Deletes the backups that were made at this time (epoch ms) or later; returns how many. */
  removeSince(agentId: string, since: number): Promise<number>;
  /**
   * Checks this backup, then runs `work` while the backup can't be deleted to make room for newer ones. Throws 400
   * `UNKNOWN_BACKUP` for anything but the path of a backup of this agent, 400 `DAMAGED_BACKUP` for a changed file, 400
   * `NEWER_BACKUP` for the file of a later Berth.
   */
  withBackup<Result>(agentId: string, path: string, work: (backup: BackupInfo) => Promise<Result>): Promise<Result>;
  /**
   * Restores everything but the status and the messages that wait in inbox and outbox; the last write, with
   * `statementsAfter`, makes it visible as a whole. Throws as `withBackup` does, with nothing changed. Call it while
   * the agent has no turns.
   */
  restore(agentId: string, path: string, statementsAfter?: readonly Statement[]): Promise<void>;
  /** Deletes sessions, memories and reminders. Call it while the agent has no turns. */
  eraseMemory(agentId: string): Promise<void>;
  /**
   * Repairs inconsistent state; returns a sentence about each repair or finding. Call it while the agent has no turns.
   */
  repair(agentId: string): Promise<string[]>;
}

export interface ListedBackup extends Pick<StoredBackup, "path" | "size" | "createdAt"> {
  /** Undefined for a backup of an earlier version of Berth. */
  reason: BackupReason | undefined;
}

export interface BackupInfo {
  /** The runtime version of the agent at that time. */
  runtimeVersion: string;
}

const FORMAT = "berth.backup";
const VERSION = 1;

/** The parts of a backup; an earlier version of Berth did not write the optional ones. */
type StoredSnapshot = Omit<BackupSnapshot, (typeof OPTIONAL_TABLES)[number]> & Partial<BackupSnapshot>;

/** A backup without its messages, which are read as a stream. */
interface BackupContents {
  snapshot: StoredSnapshot;
  extents: Map<string, SessionExtent>;
}

export function createAgentBackups(host: Host): AgentBackups {
  const { database, config, jobs, log, files } = host.kernel;
  const agentService = host.use(agents);
  const sources = backupSourcesOf(host);
  const tables = backupTablesOf(sources);
  const readSnapshot = createSnapshotReader(database, tables);
  const store = createBackupStore({ dataDir: config.dataDir, log, files });

  agentService.onDelete((agentId) => store.remove(agentId));
  jobs.every("lifecycle.sweep-backups", DAY, () =>
    store.deleteOrphans(async (agentId) => (await agentService.find(agentId)) !== undefined),
  );

  async function* elementsOf(
    agentId: string,
    snapshot: BackupSnapshot,
    reason: BackupReason,
  ): AsyncGenerator<string, void> {
    yield JSON.stringify({ format: FORMAT, version: VERSION, agentId, takenAt: new Date().toISOString(), reason });
    const { messages, ...small } = snapshot;
    for (const [part, rows] of Object.entries(small)) yield `{"part":"${part}","rows":${rows}}`;
    // The part `messages` of a snapshot is an array of numbers.
    for await (const rows of sources.runtime.messagePages(JSON.parse(messages) as number[])) {
      yield `{"part":"messages","rows":${rows}}`;
    }
  }

  /** Reads a backup to its end, so that a damaged one is found before anything is changed. */
  async function readContents(agentId: string, file: string): Promise<BackupContents> {
    const parts = new Map<string, string>();
    const extents = new Map<string, SessionExtent>();
    let hasHeader = false;
    for await (const element of readElements(file)) {
      if (!hasHeader) {
        hasHeader = true;
        requireHeader(parseJson(element), agentId);
        continue;
      }
      const { part, rows } = splitElement(element);
      if (part === "messages") {
        for (const row of parseRows<MessageRow>(rows)) extendExtent(extents, row);
      } else if (part === "sessions") {
        for await (const { id } of sessionsIn(rows)) extents.set(id, { count: 0, last: 0, lastId: "" });
      }
      if (part !== "messages") parts.set(part, rows);
    }
    const names = (Object.keys(tables) as BackupTableName[]).filter(
      (name) => !["messages", ...OPTIONAL_TABLES].includes(name),
    );
    if (!names.every((name) => parts.has(name))) throw new DamagedFile("A part is missing.");
    return { snapshot: { ...(Object.fromEntries(parts) as StoredSnapshot), messages: "[]" }, extents };
  }

  async function* readMessages(file: string): AsyncGenerator<readonly MessageRow[], void> {
    let first = true;
    for await (const element of readElements(file)) {
      const { part, rows } = first ? { part: "", rows: "[]" } : splitElement(element);
      first = false;
      if (part === "messages") yield parseRows<MessageRow>(rows);
    }
  }

  /** Pins and reads a backup; throws 400 `DAMAGED_BACKUP`, unpinned. */
  async function openBackup(agentId: string, path: string): Promise<{ file: string; contents: BackupContents }> {
    const file = await store.pin(agentId, path);
    try {
      return { file, contents: await readContents(agentId, file) };
    } catch (cause) {
      store.unpin(path);
      if (!(cause instanceof DamagedFile)) throw cause;
      const text = "This backup is damaged, so nothing was changed. Choose another one.";
      throw new AppError(400, "DAMAGED_BACKUP", text, {}, { cause });
    }
  }

  /** Logs a failure instead of throwing it: the change is committed, and a job deletes the leftovers later. */
  const clearLeftovers = (agentId: string, clear: () => Promise<void>) =>
    clear().catch((error: unknown) =>
      log.warn("deleting an agent's old sessions failed; a job repeats it", { agentId, error }),
    );

  async function restoreContents(
    agentId: string,
    file: string,
    { snapshot, extents }: BackupContents,
    statementsAfter: readonly Statement[],
  ): Promise<void> {
    const { cache, publicPage, schedules, files, loadedSkills } = snapshot;
    const channelRestore = await sources.channels.restore(agentId, snapshot);
    const sessionChange = await sources.runtime.restore(agentId, snapshot.sessions, extents, readMessages(file));
    try {
      await database.writeLong([
        ...sources.agents.restoreStatements(agentId, snapshot, channelRestore.tokens),
        ...sources.skills.restoreStatements(agentId, snapshot),
        ...(cache === undefined ? [] : sources.ai.restoreStatements(agentId, { cache })),
        ...(publicPage === undefined ? [] : sources.publicPage.restoreStatements(agentId, { publicPage })),
        ...(schedules === undefined ? [] : sources.schedules.restoreStatements(agentId, { schedules })),
        ...(files === undefined ? [] : sources.knowledge.restoreStatements(agentId, { files })),
        ...sessionChange.statements,
        ...(loadedSkills === undefined ? [] : sources.skillFolders.restoreStatements(agentId, { loadedSkills })),
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
    async write(agentId, reason = "manual") {
      const snapshot = await readSnapshot(agentId);
      if (snapshot.agent === "[]") throw agentNotFound();
      // A deletion removes the folder in which the backup is being written.
      const path = await store.write(agentId, elementsOf(agentId, snapshot, reason)).catch(async (error: unknown) => {
        if (await agentService.find(agentId)) throw error;
      });
      if (path !== undefined && (await agentService.find(agentId))) return { path };
      await store.remove(agentId);
      throw agentNotFound();
    },

    async list(agentId) {
      const stored = await store.list(agentId);
      return Promise.all(
        stored.map(async ({ path, file, size, createdAt }) => ({
          path,
          size,
          createdAt,
          reason: await reasonOf(file),
        })),
      );
    },

    removeSince: store.removeSince,

    async withBackup(agentId, path, work) {
      const { contents } = await openBackup(agentId, path);
      try {
        return await work({ runtimeVersion: runtimeVersionOf(contents.snapshot) });
      } finally {
        store.unpin(path);
      }
    },

    async restore(agentId, path, statementsAfter = []) {
      const { file, contents } = await openBackup(agentId, path);
      try {
        await restoreContents(agentId, file, contents, statementsAfter);
      } finally {
        store.unpin(path);
      }
    },

    async eraseMemory(agentId) {
      const sessionChange = sources.runtime.erase(agentId);
      await database.writeLong([...sources.resetStatements(agentId), ...sessionChange.statements]);
      await clearLeftovers(agentId, sessionChange.cleanUp);
    },

    async repair(agentId) {
      const { agents, skills, runtime, channels } = sources;
      const findings: string[] = [];
      for (const source of [runtime, skills, channels, agents]) findings.push(...(await source.repair(agentId)));
      return findings;
    },
  };
}

function extendExtent(extents: Map<string, SessionExtent>, { session, seq, id }: MessageRow): void {
  const extent = extents.get(session);
  if (!extent) throw new DamagedFile("A message has no session.");
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
    "This backup was written by a later version of Berth. Update Berth to restore it.",
  );
}

function runtimeVersionOf({ agent }: StoredSnapshot): string {
  const [row]: unknown[] = JSON.parse(agent);
  const version: unknown = typeof row === "object" && row !== null ? Reflect.get(row, "runtimeVersion") : undefined;
  return String(version);
}

/** The name of a part, and the JSON array of its rows. */
function splitElement(element: string): { part: string; rows: string } {
  const [start, part] = /^\{"part":"(\w+)","rows":(?=\[)/.exec(element) ?? [];
  if (start === undefined || part === undefined || !element.endsWith("]}")) {
    throw new DamagedFile("A line is not a part of a backup.");
  }
  return { part, rows: element.slice(start.length, -1) };
}

/** The rows of a part that is not long. */
function parseRows<Row>(rows: string): Row[] {
  // A row of `writeElements`, checked by its checksum.
  return parseJson(rows) as Row[];
}

/** The sessions of a backup, which may be many. */
async function* sessionsIn(rows: string): AsyncGenerator<SessionRow, void> {
  try {
    yield* parseElements<SessionRow>(rows);
  } catch (cause) {
    throw cause instanceof SyntaxError ? new DamagedFile("A line is not JSON.", { cause }) : cause;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DamagedFile("A line is not JSON.", { cause });
  }
}
