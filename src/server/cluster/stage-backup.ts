// Puts together what goes into a backup of a cluster with several cells, which no machine has all of: each from its newest snapshot
// and the log after it, as a machine that is new would follow.
import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Engine } from "../../cluster/engine.ts";
import { filesOfCell } from "../../cluster/files/blobs-under.ts";
import { catchUp } from "../../cluster/log/catch-up.ts";
import { openCopy } from "../../cluster/log/copy.ts";
import { openNatsEngine } from "../../cluster/nats/nats-engine.ts";
import { CLUSTER_KEY, readCount } from "../../cluster/ownership/cell-table.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { createSnapshots } from "../../cluster/snapshot/snapshots.ts";
import type { Config } from "../../kernel/config/config.ts";
import { openFile } from "../../kernel/database/local-engine.ts";
import { StartError } from "../../kernel/errors.ts";
import { createLog } from "../../kernel/telemetry/log.ts";
import { DATABASE_FILE } from "../backups/archive.ts";
import { backUpDatabase } from "../backups/database-copy.ts";
import { folderOfCell, type Staged, writeDescription } from "../backups/staging.ts";
import { migrationNames } from "./migration-names.ts";

/** Fills a new folder. Undefined for a cluster of one cell, which is copied from this machine's file. Throws `StartError`. */
export async function stageCluster(config: Config, folder: string, now: number): Promise<Staged | undefined> {
  const { url } = config.of(clusterSettings);
  if (url === undefined) return undefined;
  const engine = await openNatsEngine({ address: url, name: "berth backup" });
  try {
    const table = await engine.table("cells");
    const count = await readCount(table);
    const cluster = (await table.find(CLUSTER_KEY))?.value;
    if (count === 1 || cluster === undefined) return undefined;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const staged: Staged = { cells: count, databases: [], bytes: 0, files: 0, log: [] };
    // Cell 0 comes last: it knows which cell has a name, so a name that is used in a copy of another cell is in its copy, too.
    for (let cell = count - 1; cell >= 0; cell--) {
      const name = folderOfCell(cell) + DATABASE_FILE;
      staged.bytes += await copyCell(engine, { cell, cluster, file: join(folder, name) }, config);
      staged.databases.push(name);
      staged.files += await copyFiles(engine, cell, join(folder, folderOfCell(cell)));
    }
    writeDescription(folder, count, now);
    return staged;
  } finally {
    await engine.close();
  }
}

/** Returns the bytes of the database. */
async function copyCell(
  engine: Engine,
  { cell, cluster, file }: { cell: number; cluster: string; file: string },
  config: Config,
): Promise<number> {
  const log = createLog({ ...config.log, level: "warn" });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const following = `${file}.following`;
  const snapshots = createSnapshots({
    blobs: await engine.blobs("snapshots"),
    cell,
    knownMigrations: migrationNames,
    log,
  });
  try {
    await snapshots.restore(following);
    const storage = openFile(following, migrationNames, log);
    await openCopy(storage, cluster)
      .then(async (copy) => catchUp(await engine.log(cell), copy, new AbortController().signal))
      .finally(() => storage.close());
    return backUpDatabase(`file:${following}`, file).bytes;
  } catch (cause) {
    throw new StartError(`Cell ${cell} could not be read from the cluster's log. Try again.`, { cause });
  } finally {
    for (const suffix of ["", "-wal", "-shm", ".lock"]) rmSync(following + suffix, { force: true });
  }
}

/** Returns how many there are. One that is deleted meanwhile is left out. */
async function copyFiles(engine: Engine, cell: number, folder: string): Promise<number> {
  const blobs = filesOfCell(await engine.blobs("files"), cell);
  let count = 0;
  for (const { name } of await blobs.list()) {
    // Those of other cells have this for a beginning.
    if (cell === 0 && /^cell-\d+\//.test(name)) continue;
    const content = await blobs.get(name);
    if (!content) continue;
    const target = join(folder, name);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    await pipeline(Readable.fromWeb(content as never), createWriteStream(target, { mode: 0o600 }));
    count++;
  }
  return count;
}
