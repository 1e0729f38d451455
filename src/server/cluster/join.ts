// Makes the databases of this machine, one for each cell, those of a new cluster, and takes them out again.
import { existsSync } from "node:fs";
import type { Engine } from "../../cluster/engine.ts";
import { filesOfCell } from "../../cluster/files/blobs-under.ts";
import { keepAll } from "../../cluster/files/keep-all.ts";
import { openCopy, readPlace } from "../../cluster/log/copy.ts";
import { CLOSED_KEY, CLUSTER_KEY, COUNT_KEY } from "../../cluster/ownership/cell-table.ts";
import { createSnapshots } from "../../cluster/snapshot/snapshots.ts";
import { readStatus } from "../../cluster/status.ts";
import type { Config } from "../../kernel/config/config.ts";
import { openDatabase } from "../../kernel/database/database.ts";
import { localDatabasePath } from "../../kernel/database/database-path.ts";
import { openFile } from "../../kernel/database/local-engine.ts";
import { StartError } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { cellDatabaseUrl, cellDataDir, foldersOfCells } from "../cells/folders.ts";
import { migrationNames } from "./migration-names.ts";

export interface JoinReport {
  cells: number;
  /** Compressed bytes of the databases. */
  snapshotBytes: number;
  /** Files that were copied for the other machines. */
  files: number;
}

/**
 * Gives a database that was alone to a cluster that has none yet. Throws `StartError`, with nothing changed, if the cluster has
 * data already; with `replace`, that data is given up, unless a node is alive.
 */
export async function joinCluster(config: Config, engine: Engine, replace: boolean): Promise<JoinReport> {
  const cells = cellsOfMachine(config);
  const missing = cells.find(({ file }) => file === undefined || !existsSync(file));
  if (missing) {
    throw new StartError(
      `There is no database at ${missing.file ?? "DATABASE_URL"}. A machine with an empty DATA_DIR needs no join: start it with CLUSTER_URL.`,
    );
  }
  await requireFree(engine, replace);
  const log = createLog({ ...config.log, level: "warn" });
  const cluster = crypto.randomUUID();
  const report: JoinReport = { cells: cells.length, snapshotBytes: 0, files: 0 };
  try {
    for (const { url, dataDir, file = "" } of cells) {
      // Brings the schema to this version, and checks the file.
      const database = await openDatabase({ url, dataDir, log });
      await database.close();
      const storage = openFile(file, migrationNames, log);
      await openCopy(storage, cluster).finally(() => storage.close());
    }
    // Only now, since one of the databases might have been refused.
    await clear(engine);
    for (const { cell, dataDir, file = "" } of cells) {
      const snapshots = createSnapshots({ blobs: await engine.blobs("snapshots"), cell, log });
      report.snapshotBytes += (await snapshots.take(file)).size;
      report.files += await keepAll(dataDir, filesOfCell(await engine.blobs("files"), cell));
    }
    const table = await engine.table("cells");
    const isFirst = (await table.swap(CLUSTER_KEY, cluster, 0)) !== undefined;
    if (!isFirst) throw new StartError("Another machine has joined at the same time. Nothing was changed here.");
    await table.put(COUNT_KEY, String(cells.length));
    await table.remove(CLOSED_KEY);
    return report;
  } catch (error) {
    for (const { file } of cells) await leaveWith(file, config);
    throw error;
  }
}

/** Makes a copy of a cluster's databases one that is alone. The service must not run. */
export async function leaveCluster(config: Config): Promise<void> {
  const cells = cellsOfMachine(config);
  const lacking = cells.find(({ file }) => file === undefined || !existsSync(file) || readPlace(file) === undefined);
  if (lacking) throw new StartError(`${lacking.file ?? "DATABASE_URL"} is no copy of a cluster's database.`);
  for (const { file } of cells) await leaveWith(file, config);
}

/** Takes the place in the cluster's log out of a file, if it has one. */
async function leaveWith(file: string | undefined, config: Config): Promise<void> {
  if (file === undefined || readPlace(file) === undefined) return;
  const storage = openFile(file, migrationNames, createLog(config.log));
  const [outcome] = await storage.commit([[{ sql: "DROP TABLE log_progress", args: [] }]]);
  await storage.close();
  if (outcome && "error" in outcome) throw outcome.error;
}

const cellsOfMachine = (config: Config) =>
  [0, ...foldersOfCells(config)].map((cell) => {
    const url = cellDatabaseUrl(config, cell);
    return { cell, url, dataDir: cellDataDir(config, cell), file: localDatabasePath(url) };
  });

async function requireFree(engine: Engine, replace: boolean): Promise<void> {
  const { nodes } = await readStatus(engine);
  const alive = nodes.find(({ lease }) => lease !== "lost");
  if (alive) {
    throw new StartError(
      `The cluster is in use: ${alive.address} is alive. A machine joins it by starting with CLUSTER_URL and an empty DATA_DIR.`,
    );
  }
  const cells = await engine.table("cells");
  const isTaken = (await cells.find(CLUSTER_KEY)) !== undefined;
  if (isTaken && !replace) {
    throw new StartError(
      "The cluster has a database already. A machine joins it by starting with CLUSTER_URL and an empty DATA_DIR. To put this machine's database in its place, for instance a restored backup: berth cluster join --replace",
    );
  }
}

/** Takes the databases of a cluster out of NATS, or what a join that was interrupted has left. */
async function clear(engine: Engine): Promise<void> {
  const cells = await engine.table("cells");
  const snapshots = await engine.blobs("snapshots");
  for (const { name } of await snapshots.list()) await snapshots.remove(name);
  const known = (await cells.list()).flatMap(({ key }) => (/^\d+$/.test(key) ? [Number(key)] : []));
  for (const cell of new Set([0, ...known])) await engine.removeLog(cell);
  for (const name of ["cells", "orders", "nodes", "processes"] as const) {
    const table = await engine.table(name);
    for (const { key } of await table.list()) await table.remove(key);
  }
}
