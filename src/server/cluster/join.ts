// Makes the database of this machine that of a new cluster, and takes it out again.
import { existsSync } from "node:fs";
import type { Engine } from "../../cluster/engine.ts";
import { keepAll } from "../../cluster/files/keep-all.ts";
import { openCopy, readPlace } from "../../cluster/log/copy.ts";
import { CLUSTER_KEY, ONLY_CELL } from "../../cluster/node.ts";
import { createSnapshots } from "../../cluster/snapshot/snapshots.ts";
import { readStatus } from "../../cluster/status.ts";
import type { Config } from "../../kernel/config/config.ts";
import { openDatabase } from "../../kernel/database/database.ts";
import { openFile } from "../../kernel/database/local-engine.ts";
import { StartError } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { migrationNames } from "./migration-names.ts";

export interface JoinReport {
  /** Compressed bytes of the database. */
  snapshotBytes: number;
  /** Files that were copied for the other machines. */
  files: number;
}

/**
 * Gives a database that was alone to a cluster that has none yet. Throws `StartError`, with nothing changed, if the cluster has
 * data already; with `replace`, that data is given up, unless a node is alive.
 */
export async function joinCluster(config: Config, engine: Engine, replace: boolean): Promise<JoinReport> {
  const { file } = config.database;
  if (file === undefined || !existsSync(file)) {
    throw new StartError(
      `There is no database at ${file ?? "DATABASE_URL"}. A machine with an empty DATA_DIR needs no join: start it with CLUSTER_URL.`,
    );
  }
  await requireFree(engine, replace);
  const log = createLog({ ...config.log, level: "warn" });
  // Brings the schema to this version, and checks the file.
  const database = await openDatabase({ url: config.database.url, dataDir: config.dataDir, log });
  await database.close();
  const cluster = crypto.randomUUID();
  const storage = openFile(file, migrationNames, log);
  await openCopy(storage, cluster).finally(() => storage.close());
  try {
    const snapshots = createSnapshots({ blobs: await engine.blobs("snapshots"), cell: ONLY_CELL, log });
    const { size } = await snapshots.take(file);
    const files = await keepAll(config.dataDir, await engine.blobs("files"));
    const isFirst = (await (await engine.table("cells")).swap(CLUSTER_KEY, cluster, 0)) !== undefined;
    if (!isFirst) throw new StartError("Another machine has joined at the same time. Nothing was changed here.");
    return { snapshotBytes: size, files };
  } catch (error) {
    await leaveCluster(config);
    throw error;
  }
}

/** Makes a copy of a cluster's database one that is alone. The service must not run. */
export async function leaveCluster(config: Config): Promise<void> {
  const { file } = config.database;
  if (file === undefined || !existsSync(file) || readPlace(file) === undefined)
    throw new StartError(`${file ?? "DATABASE_URL"} is no copy of a cluster's database.`);
  const storage = openFile(file, migrationNames, createLog(config.log));
  const [outcome] = await storage.commit([[{ sql: "DROP TABLE log_progress", args: [] }]]);
  await storage.close();
  if (outcome && "error" in outcome) throw outcome.error;
}

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
  const snapshots = await engine.blobs("snapshots");
  for (const { name } of await snapshots.list()) await snapshots.remove(name);
  await engine.removeLog(ONLY_CELL);
  for (const name of ["cells", "orders", "nodes"] as const) {
    const table = await engine.table(name);
    for (const { key } of await table.list()) await table.remove(key);
  }
}
