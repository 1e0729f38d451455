// Collects the backup rows of all plugins that store data of agents, and reads them in one statement.
import type { Host, ServiceOf } from "../../../src/kernel/plugin.ts";
import { agents, type BackupTables } from "../../agents/index.ts";
import { ai } from "../../ai/index.ts";
import { channels } from "../../channels/index.ts";
import { knowledge } from "../../knowledge/index.ts";
import { publicPage } from "../../public-page/index.ts";
import { runtime } from "../../runtime/index.ts";
import { schedules } from "../../schedules/index.ts";
import { skillFolders } from "../../skill-folders/index.ts";
import { skills } from "../../skills/index.ts";

/** The backup rows of each plugin that stores data of agents. */
export interface BackupSources {
  readonly agents: ServiceOf<typeof agents>["backupRows"];
  readonly skills: ServiceOf<typeof skills>["backupRows"];
  readonly runtime: ServiceOf<typeof runtime>["backupRows"];
  readonly channels: ServiceOf<typeof channels>["backupRows"];
  readonly ai: ServiceOf<typeof ai>["backupRows"];
  readonly publicPage: ServiceOf<typeof publicPage>["backupRows"];
  readonly schedules: ServiceOf<typeof schedules>["backupRows"];
  readonly knowledge: ServiceOf<typeof knowledge>["backupRows"];
  readonly skillFolders: ServiceOf<typeof skillFolders>["backupRows"];
  /** Statements that delete an agent's facts and reminders. */
  resetStatements: ServiceOf<typeof skills>["resetStatements"];
}

/** Parts that backups of earlier versions don't have: restoring one of those leaves their present rows unchanged. */
export const OPTIONAL_TABLES = ["cache", "publicPage", "schedules", "files", "loadedSkills"] as const;

type TableNamesOf<E> = E extends { tables: BackupTables<infer Name> } ? Name : never;
/** Names of all parts: `agent`, `memories`, `sessions`, … */
export type BackupTableName = TableNamesOf<
  BackupSources[
    | "agents"
    | "skills"
    | "runtime"
    | "channels"
    | "ai"
    | "publicPage"
    | "schedules"
    | "knowledge"
    | "skillFolders"]
>;

/** The rows of every part: JSON arrays, as text. */
export type BackupSnapshot = Readonly<Record<BackupTableName, string>>;

export function backupSourcesOf(host: Host): BackupSources {
  const { backupRows: skillBackupRows, resetStatements } = host.use(skills);
  return {
    agents: host.use(agents).backupRows,
    skills: skillBackupRows,
    runtime: host.use(runtime).backupRows,
    channels: host.use(channels).backupRows,
    ai: host.use(ai).backupRows,
    publicPage: host.use(publicPage).backupRows,
    schedules: host.use(schedules).backupRows,
    knowledge: host.use(knowledge).backupRows,
    skillFolders: host.use(skillFolders).backupRows,
    resetStatements,
  };
}

/** Every part with its query. */
export const backupTablesOf = ({
  agents,
  skills,
  runtime,
  channels,
  ai,
  publicPage,
  schedules,
  knowledge,
  skillFolders,
}: BackupSources): BackupTables<BackupTableName> => ({
  ...agents.tables,
  ...skills.tables,
  ...runtime.tables,
  ...channels.tables,
  ...ai.tables,
  ...publicPage.tables,
  ...schedules.tables,
  ...knowledge.tables,
  ...skillFolders.tables,
});

/** Reads all parts in one statement, so that they are of one moment; of messages it reads the numbers. */
export function createSnapshotReader(
  database: Pick<Host["kernel"]["database"], "readLong">,
  tables: BackupTables<BackupTableName>,
) {
  const names = Object.keys(tables) as BackupTableName[];
  const sql = `SELECT ${names.map((name) => `(${tables[name]}) AS "${name}"`).join(", ")}`;

  return async function read(agentId: string): Promise<BackupSnapshot> {
    const { rows } = await database.readLong(sql, [agentId]);
    return Object.fromEntries(names.map((name) => [name, String(rows[0]?.[name])])) as BackupSnapshot;
  };
}
