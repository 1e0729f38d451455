// What the cell does that an account leaves.
import { rmSync } from "node:fs";
import { runAccountHooks } from "../../kernel/cells/account-hooks.ts";
import type { Database } from "../../kernel/database/database.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { deleteRemains, isRemains, requireNoAccounts } from "./cell-remains.ts";
import {
  addKeysStatement,
  type HeldAgent,
  hasPendingTurns,
  hasUntoldEvents,
  holdStatement,
  parkJobsStatement,
  readAgents,
  readKeys,
  readNames,
  releaseJobsStatement,
  restoreStatements,
} from "./held-rows.ts";
import {
  type AccountSideDeps,
  type Consignment,
  detailStatement,
  forgetStatement,
  movingOf,
  type Removed,
  readState,
  setStatement,
} from "./moving-accounts.ts";
import { closureOf, SCHEMA_SQL, type TableSchema, toSchema } from "./parcel/closure.ts";
import { deleteOwned } from "./parcel/delete-owned.ts";
import type { Packed } from "./parcel/parcel.ts";
import { makeParcelFolder, outgoingPath } from "./parcels.ts";

/** Of the pieces in which a parcel is sent. */
const PIECE_BYTES = 384 * 1024;
/** How long an account may go on to write after it is held. */
const QUIET_MS = 20_000;
/** One that has the last write in it, and one that is equal to it; and one before, during which it was written. */
const LEAST_PACKS = 3;
const LOOK_MS = 100;
/** As for a cell that moves to another machine. */
const TURNS_MS = 2_000;

export function createDeparture(deps: Omit<AccountSideDeps, "call" | "log">) {
  const { here, database, dataDir, gate, hooks, pack, files, quietMs = QUIET_MS } = deps;
  const outgoing = (account: string) => outgoingPath(dataDir, account);
  const hasAccount = async (account: string) =>
    (await database.read("SELECT 1 FROM users WHERE id = ?", [account])).rows.length > 0;

  /** What has been asked is answered first, if that does not take long; else it is answered in the new cell. */
  async function untilAnswered(account: string): Promise<void> {
    const end = performance.now() + TURNS_MS;
    while (performance.now() < end && (await hasPendingTurns(database, account))) await Bun.sleep(LOOK_MS);
  }

  /** Packs until nothing of the account is written any more. */
  async function packQuietly(account: string, agents: readonly HeldAgent[]): Promise<Packed> {
    makeParcelFolder(dataDir);
    await files.bringAgents(agents.map(({ id }) => id));
    const end = performance.now() + quietMs;
    let before: string | undefined;
    for (let packs = 1; ; packs++) {
      await runAccountHooks(hooks, "beforePacked", movingOf(account, agents));
      const packed = await pack(account, outgoing(account));
      if (packed.jobs.length > 0) await database.write([parkJobsStatement(account, packed.jobs)]);
      const isQuiet = packed.running === 0 && !(await hasUntoldEvents(database, account));
      if (isQuiet && packed.digest === before) {
        await database.write([detailStatement(account, "jobs", packed.jobs)]);
        return packed;
      }
      // To pack a large account takes long by itself.
      if (performance.now() >= end && packs >= LEAST_PACKS) throw accountBusy();
      before = packed.digest;
      if (!isQuiet) await Bun.sleep(LOOK_MS);
    }
  }

  return {
    /** Throws 404 `USER_NOT_FOUND`, for a whole cell 409 `CELL_NOT_EMPTY`, and 503 `ACCOUNT_BUSY` if it goes on to write. */
    async hold({ account, to }: { account: string; to: number }): Promise<Consignment> {
      if (isRemains(account)) await requireNoAccounts(database);
      else if (!(await hasAccount(account))) throw notFound("There is no account with this id.", "USER_NOT_FOUND");
      const known = await readState(database, account);
      const hasCome = known?.state === "here" || known?.details.hasCome === true;
      let agents = known?.state === "leaving" ? known.details.agents : undefined;
      const keys = await readKeys(database, account);
      const closing = setStatement(account, "leaving", to, { hasCome, ...(agents && { agents }) });
      await database.write([closing, addKeysStatement(account, keys)]);
      await gate.refresh();
      if (!agents) {
        await untilAnswered(account);
        agents = await readAgents(database, account);
        await database.write([detailStatement(account, "agents", agents), holdStatement(account)]);
      }
      await runAccountHooks(hooks, "paused", movingOf(account, agents));
      const { size, digest } = await packQuietly(account, agents);
      return { account, from: here, size, digest, names: await readNames(database, account), keys, agents };
    },

    /** A piece of the parcel, in base64. */
    async read({ account, at }: { account: string; at: number }): Promise<string> {
      const piece = Bun.file(outgoing(account)).slice(at, at + PIECE_BYTES);
      return Buffer.from(await piece.arrayBuffer()).toString("base64");
    },

    /** Whether the account is still as it was packed. */
    async unchanged({ account, digest }: { account: string; digest: string }): Promise<boolean> {
      const { details } = (await readState(database, account)) ?? {};
      await runAccountHooks(hooks, "beforePacked", movingOf(account, details?.agents));
      return (await pack(account, outgoing(account))).digest === digest;
    },

    /** After the decision, in the old cell: deletes the rows. */
    async remove({ account, to }: { account: string; to: number }): Promise<Removed> {
      const known = await readState(database, account);
      if (known?.state !== "leaving") return readRemoved(database);
      const moving = movingOf(account, known.details.agents);
      await runAccountHooks(hooks, "beforeRemoved", moving);
      const removed = await readRemoved(database);
      const schema = await readSchema(database);
      if (isRemains(account)) await deleteRemains(database, schema, account);
      else await deleteRows(database, schema, account);
      await database.write([deleteJobsStatement(known.details.jobs ?? [])]);
      await runAccountHooks(hooks, "removed", moving);
      rmSync(outgoing(account), { force: true });
      await database.write([setStatement(account, "left", to, {})]);
      await gate.refresh();
      return removed;
    },

    /** Instead of the decision, in the old cell: the account goes on where it is. */
    async release({ account }: { account: string }): Promise<void> {
      const known = await readState(database, account);
      rmSync(outgoing(account), { force: true });
      if (known?.state !== "leaving") return;
      const { agents = [] } = known.details;
      await database.write([
        ...restoreStatements(agents),
        releaseJobsStatement(account),
        known.details.hasCome ? setStatement(account, "here", here, {}) : forgetStatement(account),
      ]);
      await gate.refresh();
      const moving = movingOf(account, agents);
      await runAccountHooks(hooks, "paused", moving);
      await runAccountHooks(hooks, "arrived", moving);
    },
  };
}

async function deleteRows(database: Database, schema: readonly TableSchema[], account: string): Promise<void> {
  const closure = closureOf(schema);
  const isLast = (name: string) => name === "agents" || name === "users";
  await deleteOwned(
    database,
    closure.filter(({ name }) => !isLast(name)),
    account,
  );
  await database.write([
    { sql: "DELETE FROM agents WHERE user_id = ?", args: [account] },
    { sql: "DELETE FROM users WHERE id = ?", args: [account] },
  ]);
}

/** What readers of the old cell may have seen: the new one puts the account's events below it. */
async function readRemoved({ read }: Pick<Database, "read">): Promise<Removed> {
  const [row] = (await read("SELECT max(seq) AS latest FROM events")).rows;
  return { latestEvent: Number(row?.latest ?? 0) };
}

async function readSchema({ read }: Pick<Database, "read">): Promise<TableSchema[]> {
  const [tables, columns, references] = await Promise.all(
    [SCHEMA_SQL.tables, SCHEMA_SQL.columns, SCHEMA_SQL.references].map(async (sql) => (await read(sql)).rows),
  );
  return toSchema({ tables: tables ?? [], columns: columns ?? [], references: references ?? [] });
}

const deleteJobsStatement = (ids: readonly string[]) => ({
  sql: "DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?))",
  args: [JSON.stringify(ids)],
});

const accountBusy = () =>
  new AppError(
    503,
    "ACCOUNT_BUSY",
    "This account did not come to rest within 20 seconds. It stays where it is; try again.",
  );
