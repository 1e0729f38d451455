// Where parcels are: in a folder of the cell's machine, and in a cluster with the shared files, too. One that arrives has a name of its
// own, so that what an earlier fetch or another machine has left is never taken for it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openReadOnly } from "../../kernel/database/connection.ts";
import type { AccountSideDeps, Details } from "./moving-accounts.ts";

const FOLDER = "moves";
const ARRIVING = "SELECT account_id, details FROM moving_accounts WHERE state = 'arriving'";

/** Relative to the data folder, as shared files are named. */
export const newParcelPath = (account: string) => `${FOLDER}/${account}.${crypto.randomUUID()}.in`;

/** That of an account which is arriving. Earlier versions gave each account the same one. */
export const parcelPathOf = (account: string, { parcel }: Details) => parcel ?? `${FOLDER}/${account}.in`;

export const outgoingPath = (dataDir: string, account: string) => join(dataDir, FOLDER, `${account}.out`);

export const makeParcelFolder = (dataDir: string) => mkdirSync(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });

export function createParcels({ dataDir, database, files }: Pick<AccountSideDeps, "dataDir" | "database" | "files">) {
  const wanted = async () => pathsOf((await database.read(ARRIVING)).rows);

  /** What a fetch of this machine has put there before it lost the cell shows only here. */
  async function sweepShared(): Promise<void> {
    const found = await files.list(`${FOLDER}/`);
    const known = await wanted();
    if (found.every((path) => known.has(path))) return;
    // Refused if another machine has the cell by now, whose parcels this one can't know.
    await database.write([{ sql: "DELETE FROM moving_accounts WHERE false", args: [] }]);
    const current = await wanted();
    await files.forget(found.filter((path) => !current.has(path)));
  }

  return {
    /** Resolves with where the parcel is on this machine. Throws if the one that was decided is nowhere. */
    async bring(path: string, account: string, digest: string | undefined) {
      const local = join(dataDir, path);
      if (existsSync(local) && (await digestOf(local)) === digest) return local;
      rmSync(local, { force: true });
      if ((await files.bring(path)) && (await digestOf(local)) === digest) return local;
      rmSync(local, { force: true });
      throw new Error(`The parcel of the account ${account} is not there, or not as it was packed.`);
    },

    async drop(path: string): Promise<void> {
      rmSync(join(dataDir, path), { force: true });
      await files.forget([path]);
    },

    /** Deletes what was left of moves that are over. Call it before the first step of a move. */
    async sweep(): Promise<void> {
      const found = namesIn(dataDir);
      // They are packed anew.
      for (const path of found.filter((one) => one.endsWith(".out"))) rmSync(join(dataDir, path), { force: true });
      deleteAllBut(dataDir, found, await wanted());
      const isUsed = (await database.read("SELECT 1 FROM moving_accounts LIMIT 1")).rows.length > 0;
      if (isUsed || found.length > 0) await sweepShared();
    },
  };
}

/** Does the same on a machine that does not own the cell, as far as its copy knows. Throws if the copy can't be read. */
export function sweepUnowned(dataDir: string, file: string): void {
  const found = namesIn(dataDir);
  if (found.length === 0) return;
  deleteAllBut(dataDir, found, existsSync(file) ? readWanted(file) : new Set());
}

function deleteAllBut(dataDir: string, found: readonly string[], wanted: ReadonlySet<string>): void {
  for (const path of found) if (!wanted.has(path)) rmSync(join(dataDir, path), { force: true });
}

function readWanted(file: string): Set<string> {
  const connection = openReadOnly(file);
  try {
    return pathsOf(connection.run(ARRIVING).rows);
  } finally {
    connection.close();
  }
}

const pathsOf = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  new Set(rows.map((row) => parcelPathOf(String(row.account_id), JSON.parse(String(row.details)) as Details)));

function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(join(dataDir, FOLDER)).map((name) => `${FOLDER}/${name}`);
  } catch {
    // Most machines have never moved an account.
    return [];
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of Bun.file(path).stream()) hash.update(part);
  return hash.digest("hex");
}
