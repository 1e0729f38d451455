// What a cell does for a move, step by step, as the driver in cell 0 asks for it. Each step has the same effect twice.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type AccountHooks, runAccountHooks } from "../../kernel/cells/account-hooks.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database, Statement } from "../../kernel/database/database.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { CellCalls } from "../cells/cell-calls.ts";
import { closureOf, SCHEMA_SQL, toSchema } from "./closure.ts";
import type { Gate } from "./gate.ts";
import {
  addKeysStatement,
  type HeldAgent,
  hasPendingTurns,
  hasUntoldEvents,
  holdStatement,
  parkJobsStatement,
  readAgents,
  readKeys,
  releaseJobsStatement,
  restoreStatements,
} from "./held-rows.ts";
import type { JobRow, Packed } from "./parcel.ts";
import { chooseShifts, readHeader, type Shifts, tryOut, unpack } from "./parcel-reader.ts";

/** What the old cell says of a parcel, and the new one keeps until the account has arrived. */
export interface Consignment {
  account: string;
  from: number;
  size: number;
  digest: string;
  names: Name[];
  keys: string[];
  agents: HeldAgent[];
}

export interface AccountSideDeps {
  here: number;
  database: Database;
  dataDir: string;
  gate: Pick<Gate, "refresh" | "find">;
  hooks: readonly AccountHooks[];
  /** The names that the directory has of an account of this cell. */
  namesOf(account: string): Promise<Name[]>;
  /** Writes the parcel in a process of its own. */
  pack(account: string, path: string): Promise<Packed>;
  /** In a cluster: brings files of the account to this machine, and keeps those that have arrived for the others. */
  files: {
    bringAgents(agents: readonly string[]): Promise<void>;
    bring(path: string): Promise<boolean>;
    keep(paths: readonly string[]): Promise<void>;
    forget(paths: readonly string[]): Promise<void>;
  };
  call: CellCalls["call"];
  log: Pick<Log, "info" | "warn">;
}

export type AccountSide = ReturnType<typeof createAccountSide>;

interface Details extends Partial<Consignment> {
  agents?: HeldAgent[];
  jobs?: string[];
  shifts?: Shifts;
  done?: number;
  /** The account was here before: what it got then still leads here. */
  wasHere?: boolean;
  /** It had come from another cell: what was given out there leads here. */
  hasCome?: boolean;
}

const PIECE_BYTES = 384 * 1024;
/** How long an account may go on to write after it is held. */
const QUIET_MS = 20_000;
const LOOK_MS = 100;
/** As for a cell that moves to another machine. */
const TURNS_MS = 2_000;

export function createAccountSide(deps: AccountSideDeps) {
  const { here, database, dataDir, gate, hooks, namesOf, pack, files, call, log } = deps;
  const folder = join(dataDir, "moves");
  const outgoing = (account: string) => join(folder, `${account}.out`);
  /** Relative to the data folder. */
  const parcelPath = (account: string) => `moves/${account}.in`;
  const incoming = (account: string) => join(dataDir, parcelPath(account));

  async function stateOf(account: string): Promise<{ state: string; details: Details } | undefined> {
    const sql = "SELECT state, details FROM moving_accounts WHERE account_id = ?";
    const [row] = (await database.read(sql, [account])).rows;
    return row && { state: String(row.state), details: JSON.parse(String(row.details)) as Details };
  }
  const setStatement = (account: string, state: string, cell: number, details: Details): Statement => ({
    sql: `INSERT INTO moving_accounts (account_id, state, cell, details) VALUES (?, ?, ?, ?)
      ON CONFLICT (account_id) DO UPDATE SET state = excluded.state, cell = excluded.cell, details = excluded.details`,
    args: [account, state, cell, JSON.stringify(details)],
  });
  const detailStatement = (account: string, key: keyof Details, value: unknown): Statement => ({
    sql: "UPDATE moving_accounts SET details = json_set(details, ?, json(?)) WHERE account_id = ?",
    args: [`$.${key}`, JSON.stringify(value), account],
  });
  const forgetStatement = (account: string): Statement => ({
    sql: "DELETE FROM moving_accounts WHERE account_id = ?",
    args: [account],
  });
  const backStatement = (account: string, { hasCome }: Details) =>
    hasCome ? setStatement(account, "here", here, {}) : forgetStatement(account);
  const movingOf = (account: string, agents: readonly HeldAgent[] = []) => ({
    userId: account,
    agentIds: agents.map(({ id }) => id),
  });
  const hasAccount = async (account: string) =>
    (await database.read("SELECT 1 FROM users WHERE id = ?", [account])).rows.length > 0;

  /** What has been asked is answered first, if that does not take long; else it is answered in the new cell. */
  async function untilAnswered(account: string): Promise<void> {
    const end = performance.now() + TURNS_MS;
    while (performance.now() < end && (await hasPendingTurns(database, account))) await Bun.sleep(LOOK_MS);
  }

  /** Packs until nothing of the account is written any more. */
  async function packQuietly(account: string, agents: readonly HeldAgent[]): Promise<Packed> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await files.bringAgents(agents.map(({ id }) => id));
    const end = performance.now() + QUIET_MS;
    let before: string | undefined;
    for (;;) {
      await runAccountHooks(hooks, "beforePacked", movingOf(account, agents));
      const packed = await pack(account, outgoing(account));
      if (packed.jobs.length > 0) await database.write([parkJobsStatement(account, packed.jobs)]);
      const isQuiet = packed.running === 0 && !(await hasUntoldEvents(database, account));
      if (isQuiet && packed.digest === before) {
        await database.write([detailStatement(account, "jobs", packed.jobs)]);
        return packed;
      }
      if (performance.now() >= end) throw accountBusy();
      before = packed.digest;
      if (!isQuiet) await Bun.sleep(LOOK_MS);
    }
  }

  /** Deletes the rows of the account, table by table, so that no write takes long. */
  async function deleteRows(account: string, jobs: readonly string[]): Promise<void> {
    const [tables, columns, references] = await Promise.all(
      [SCHEMA_SQL.tables, SCHEMA_SQL.columns, SCHEMA_SQL.references].map(
        async (sql) => (await database.read(sql)).rows,
      ),
    );
    const closure = closureOf(toSchema({ tables: tables ?? [], columns: columns ?? [], references: references ?? [] }));
    const isLast = (name: string) => name === "agents" || name === "users";
    for (const { name, where } of closure.toReversed().filter((one) => !isLast(one.name))) {
      const { rows } = await database.readLong(`SELECT 1 FROM ${name} WHERE ${where} LIMIT 1`, [account]);
      if (rows.length > 0)
        await database.writeLong([{ sql: `DELETE FROM ${name} WHERE ${where}`, args: [account] }]);
    }
    await database.write([
      { sql: "DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?))", args: [JSON.stringify(jobs)] },
      { sql: "DELETE FROM agents WHERE user_id = ?", args: [account] },
      { sql: "DELETE FROM users WHERE id = ?", args: [account] },
    ]);
  }

  return {
    /** Throws 404 `USER_NOT_FOUND`, and 503 `ACCOUNT_BUSY` if it goes on to write. */
    async hold({ account, to }: { account: string; to: number }): Promise<Consignment> {
      if (!(await hasAccount(account))) throw notFound("There is no account with this id.", "USER_NOT_FOUND");
      const known = await stateOf(account);
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
      return { account, from: here, size, digest, names: await namesOf(account), keys, agents };
    },

    /** A piece of the parcel, in base64. */
    async read({ account, at }: { account: string; at: number }): Promise<string> {
      const piece = Bun.file(outgoing(account)).slice(at, at + PIECE_BYTES);
      return Buffer.from(await piece.arrayBuffer()).toString("base64");
    },

    /** Whether the account is still as it was packed. */
    async unchanged({ account, digest }: { account: string; digest: string }): Promise<boolean> {
      const { details } = (await stateOf(account)) ?? {};
      await runAccountHooks(hooks, "beforePacked", movingOf(account, details?.agents));
      return (await pack(account, outgoing(account))).digest === digest;
    },

    /** Brings the parcel here. Throws 409 `CELLS_DIFFER` if the databases are of different versions. */
    async fetch(consignment: Consignment): Promise<void> {
      const { keys, ...kept } = consignment;
      const { account, from, size, digest } = kept;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const hash = createHash("sha256");
      const file = await open(incoming(account), "w", 0o600);
      try {
        for (let at = 0; at < size; ) {
          const text = await call<string>(from, "account", { step: "read", args: { account, at } });
          const piece = Buffer.from(text, "base64");
          if (piece.length === 0) throw new Error("The parcel ended early.");
          hash.update(piece);
          await file.write(piece, 0, piece.length, at);
          at += piece.length;
        }
        await file.sync();
      } finally {
        await file.close();
      }
      if (hash.digest("hex") !== digest) throw new Error("The parcel has changed on its way.");
      const { migration } = await readHeader(incoming(account));
      const [row] = (await database.read("SELECT max(name) AS name FROM migrations")).rows;
      if (row?.name !== migration) throw cellsDiffer();
      await tryOut(incoming(account), size, database);
      await files.keep([parcelPath(account)]);
      const known = await stateOf(account);
      const wasHere = known?.state === "left" || known?.details.wasHere === true;
      await database.write([
        setStatement(account, "arriving", from, { ...kept, wasHere }),
        addKeysStatement(account, keys),
      ]);
      await gate.refresh();
    },

    /** After the decision, in the old cell: deletes the rows. */
    async remove({ account, to }: { account: string; to: number }): Promise<void> {
      const known = await stateOf(account);
      if (known?.state !== "leaving") return;
      const moving = movingOf(account, known.details.agents);
      await runAccountHooks(hooks, "beforeRemoved", moving);
      await deleteRows(account, known.details.jobs ?? []);
      await runAccountHooks(hooks, "removed", moving);
      rmSync(outgoing(account), { force: true });
      await database.write([setStatement(account, "left", to, {})]);
      await gate.refresh();
    },

    /** After that, in the new cell: inserts them, and lets the account go on. */
    async settle({ account }: { account: string }): Promise<void> {
      const known = await stateOf(account);
      if (known?.state !== "arriving") return;
      const { agents = [], done = 0, from = 0 } = known.details;
      const path = incoming(account);
      // Another machine may have fetched it.
      if (!existsSync(path)) await files.bring(parcelPath(account));
      const shifts = known.details.shifts ?? (await chooseShifts(await readHeader(path), database));
      if (!known.details.shifts) await database.write([detailStatement(account, "shifts", shifts)]);
      const progress = (end: number) => detailStatement(account, "done", end);
      const arrived = await unpack({ database, dataDir, path, done, shifts, progress });
      await files.keep(arrived.files);
      await database.write([
        ...restoreStatements(agents),
        ...arrived.jobs.map(insertJobStatement),
        setStatement(account, "here", from, {}),
      ]);
      await gate.refresh();
      rmSync(path, { force: true });
      await files.forget([parcelPath(account)]);
      await runAccountHooks(hooks, "arrived", movingOf(account, agents));
      log.info("an account has arrived from another cell", { account, from });
    },

    /** Instead of the decision, in the old cell: the account goes on where it is. */
    async release({ account }: { account: string }): Promise<void> {
      const known = await stateOf(account);
      rmSync(outgoing(account), { force: true });
      if (known?.state !== "leaving") return;
      const { agents = [] } = known.details;
      await database.write([
        ...restoreStatements(agents),
        releaseJobsStatement(account),
        backStatement(account, known.details),
      ]);
      await gate.refresh();
      const moving = movingOf(account, agents);
      await runAccountHooks(hooks, "paused", moving);
      await runAccountHooks(hooks, "arrived", moving);
    },

    /** Instead of the decision, in the new cell: the parcel is thrown away. */
    async discard({ account }: { account: string }): Promise<void> {
      rmSync(incoming(account), { force: true });
      const known = await stateOf(account);
      if (known?.state !== "arriving") return;
      await files.forget([parcelPath(account)]);
      const { wasHere, from = 0 } = known.details;
      await database.write([wasHere ? setStatement(account, "left", from, {}) : forgetStatement(account)]);
      await gate.refresh();
    },

    /** Where something is that was given out here. */
    whereabouts: ({ key }: { key: string }) =>
      gate
        .find([key])
        .then((found) => (found === undefined || (found !== "moving" && found.cell === here) ? null : found)),

    /** The id of the account of this cell with an address. */
    async idOf({ email }: { email: string }): Promise<string | null> {
      const [row] = (await database.read("SELECT id FROM users WHERE email = ?", [email])).rows;
      return row ? String(row.id) : null;
    },

    /** In the cells that the account has left before. */
    async relocate({ account, to }: { account: string; to: number }): Promise<void> {
      const sql = "UPDATE moving_accounts SET cell = ? WHERE account_id = ? AND state = 'left'";
      await database.write([{ sql, args: [to, account] }]);
    },

    /** Whether a name is one of an account that is arriving: its rows are not here yet. */
    async isArriving({ kind, name }: Name): Promise<boolean> {
      const { rows } = await database.read("SELECT details FROM moving_accounts WHERE state = 'arriving'");
      return rows.some(({ details }) =>
        ((JSON.parse(String(details)) as Details).names ?? []).some((one) => one.kind === kind && one.name === name),
      );
    },
  };
}

const insertJobStatement = ({ id, kind, unique_key, payload, state, run_at, attempt, ...more }: JobRow): Statement => ({
  sql: `INSERT INTO jobs (id, kind, unique_key, payload, state, run_at, attempt, max_attempts, last_error, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  args: [
    ...[id, kind, unique_key, payload, state, run_at, attempt],
    ...[more.max_attempts, more.last_error, more.created_at],
  ].map((value) => (typeof value === "string" || typeof value === "number" ? value : null)),
});

const accountBusy = () =>
  new AppError(
    503,
    "ACCOUNT_BUSY",
    "This account did not come to rest within 20 seconds. It stays where it is; try again.",
  );
const cellsDiffer = () =>
  new AppError(
    409,
    "CELLS_DIFFER",
    "The cells have databases of different versions. Finish the upgrade of the service first.",
  );
