// What the cell does in which an account arrives.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { runAccountHooks } from "../../kernel/cells/account-hooks.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import type { Statement } from "../../kernel/database/database.ts";
import { AppError } from "../../kernel/errors.ts";
import { isRemains } from "./cell-remains.ts";
import { addKeysStatement, restoreStatements } from "./held-rows.ts";
import {
  type AccountSideDeps,
  type Consignment,
  type Details,
  detailStatement,
  forgetStatement,
  movingOf,
  type Removed,
  readState,
  setStatement,
} from "./moving-accounts.ts";
import { beginNumbersStatement } from "./parcel/delete-owned.ts";
import { chooseShifts } from "./parcel/number-shifts.ts";
import type { JobRow } from "./parcel/parcel.ts";
import { readHeader } from "./parcel/parcel-lines.ts";
import { tryOut, unpack } from "./parcel/parcel-reader.ts";
import { createParcels, makeParcelFolder, newParcelPath, parcelPathOf } from "./parcels.ts";

export function createArrival(deps: Omit<AccountSideDeps, "pack" | "here">) {
  const { database, dataDir, gate, hooks, files, call, log } = deps;
  const parcels = createParcels(deps);

  /** Brings the parcel to this machine, and proves it. */
  async function receive({ account, from, size, digest }: Consignment, path: string): Promise<void> {
    const hash = createHash("sha256");
    const file = await open(path, "w", 0o600);
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
    const { migration } = await readHeader(path);
    const [row] = (await database.read("SELECT max(name) AS name FROM migrations")).rows;
    if (row?.name !== migration) throw cellsDiffer();
    await tryOut(path, size, database);
  }

  return {
    /** Brings the parcel here. Throws 409 `CELLS_DIFFER` if the databases are of different versions. */
    async fetch(consignment: Consignment): Promise<void> {
      const { keys, ...kept } = consignment;
      const { account, from } = kept;
      const parcel = newParcelPath(account);
      makeParcelFolder(dataDir);
      try {
        await receive(consignment, join(dataDir, parcel));
      } catch (error) {
        rmSync(join(dataDir, parcel), { force: true });
        throw error;
      }
      const known = await readState(database, account);
      if (known?.state === "arriving") await parcels.drop(parcelPathOf(account, known.details));
      // Also if only an agent of it was here, with the account that had it then.
      const wasHere =
        known?.state === "arriving"
          ? known.details.wasHere === true
          : known?.state === "left" || (await gate.find(keys)) !== undefined;
      // Before it is shared: what undoes this knows then what it has to forget.
      await database.write([
        setStatement(account, "arriving", from, { ...kept, parcel, wasHere }),
        addKeysStatement(account, keys),
      ]);
      await files.keep([parcel]);
      await gate.refresh();
    },

    /** After that, in the new cell: inserts them, and lets the account go on. */
    async settle({ account, latestEvent }: { account: string } & Removed): Promise<void> {
      const known = await readState(database, account);
      // The step before may have been killed at its end.
      if (known?.state === "here" && known.details.parcel) await parcels.drop(known.details.parcel);
      if (known?.state !== "arriving") return;
      const { agents = [], done = 0, from = 0, digest } = known.details;
      const parcel = parcelPathOf(account, known.details);
      const path = await parcels.bring(parcel, account, digest);
      const shifts = known.details.shifts ?? (await chooseShifts(path, database, latestEvent));
      if (!known.details.shifts)
        await database.write([beginNumbersStatement(Date.now()), detailStatement(account, "shifts", shifts)]);
      const progress = (end: number) => detailStatement(account, "done", end);
      const arrived = await unpack({ database, dataDir, path, done, shifts, progress });
      await files.keep(arrived.files);
      await database.write([
        ...restoreStatements(agents),
        ...arrived.jobs.map(insertJobStatement),
        { sql: RELEASE_DELIVERIES, args: [account] },
        ...(isRemains(account) ? [] : [{ sql: NOTE_SHIFT, args: [account, shifts.events ?? 0] }]),
        setStatement(account, "here", from, { parcel }),
      ]);
      await gate.refresh();
      await parcels.drop(parcel);
      await runAccountHooks(hooks, "arrived", movingOf(account, agents));
      log.info("an account has arrived from another cell", { account, from });
    },

    /** Instead of the decision, in the new cell: the parcel is thrown away. */
    async discard({ account }: { account: string }): Promise<void> {
      const known = await readState(database, account);
      if (known?.state !== "arriving") return;
      await parcels.drop(parcelPathOf(account, known.details));
      const { wasHere, from = 0 } = known.details;
      await database.write([wasHere ? setStatement(account, "left", from, {}) : forgetStatement(account)]);
      await gate.refresh();
    },

    /** Deletes what was left of moves that are over, on this machine and among the shared files. Call it once, before any other step. */
    sweep: parcels.sweep,

    /** Whether a name is one of an account that is arriving: its rows are not here yet. */
    async isArriving({ kind, name }: Name): Promise<boolean> {
      const { rows } = await database.read("SELECT details FROM moving_accounts WHERE state = 'arriving'");
      return rows.some(({ details }) =>
        ((JSON.parse(String(details)) as Details).names ?? []).some((one) => one.kind === kind && one.name === name),
      );
    },
  };
}

/** If the account has moved before, its row has arrived with it, and the shift is added already. */
const NOTE_SHIFT = `INSERT INTO event_shifts (user_id, shift, since) SELECT ?1, ?2, coalesce(max(seq), 0) FROM events WHERE true
  ON CONFLICT (user_id) DO UPDATE SET since = excluded.since`;

/** What was being sent when the account left is sent again, with the same id. */
const RELEASE_DELIVERIES = `UPDATE webhook_deliveries SET claimed_until = NULL
  WHERE endpoint_id IN (SELECT id FROM webhook_endpoints WHERE user_id = ?)`;

const insertJobStatement = ({ id, kind, unique_key, payload, state, run_at, attempt, ...more }: JobRow): Statement => ({
  sql: `INSERT INTO jobs (id, kind, unique_key, payload, state, run_at, attempt, max_attempts, last_error, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  args: [
    ...[id, kind, unique_key, payload, state, run_at, attempt],
    ...[more.max_attempts, more.last_error, more.created_at],
  ].map((value) => (typeof value === "string" || typeof value === "number" ? value : null)),
});

const cellsDiffer = () =>
  new AppError(
    409,
    "CELLS_DIFFER",
    "The cells have databases of different versions. Finish the upgrade of the service first.",
  );
