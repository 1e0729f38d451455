// Moves accounts between cells, in cell 0: it says what is done next, and decides in one write in which cell an account is. A move
// that ends before that write is undone, one that ends after it is finished.

import type { Actor } from "../../kernel/audit/actor.ts";
import type { AuditedChange } from "../../kernel/audit/audit.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import { cellOfId } from "../../kernel/cells/marks.ts";
import { type Database, guard, isUniqueViolation, type Statement } from "../../kernel/database/database.ts";
import { AppError, invalidInput } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { SECOND } from "../../kernel/util/time.ts";
import type { CellCalls } from "../cells/cell-calls.ts";
import type { AccountSide } from "./account-side.ts";
import { isRemains, remainsOf } from "./cell-remains.ts";
import { accountMoving } from "./gate.ts";
import { type Consignment, forgetStatement } from "./moving-accounts.ts";

export interface MovedAccount {
  account: string;
  from: number;
  to: number;
  /** Milliseconds for which requests of the account have waited. */
  ms: number;
}

interface Move {
  account: string;
  from: number;
  to: number;
  hasMoved: boolean;
}

interface Deps {
  database: Pick<Database, "read" | "write">;
  count(): number;
  call: CellCalls["call"];
  /** The entry of the audit log for what was decided; none before cell 0 is open. */
  record?(by: Actor, change: AuditedChange): Statement[];
  /** Cell 0 has all that a cell had: from now on there is one cell less. */
  closed?(cell: number): Promise<void>;
  log: Pick<Log, "info" | "warn">;
  now?: () => number;
  /** Milliseconds that the cells have to do what is decided, before the command ends without it. */
  finishMs?: number;
}

/** How often moves are looked for that were left unfinished. */
const LOOK_MS = SECOND;
/** How often an account is packed again that has changed while its parcel was on the way. */
const ATTEMPTS = 5;
const FINISH_MS = 60 * SECOND;

const BEGIN = "INSERT INTO account_moves (account_id, source, target, begun_at) VALUES (?, ?, ?, ?)";
const DECIDE = "UPDATE account_moves SET outcome = 'moved', names = ? WHERE account_id = ? AND outcome IS NULL";
const UNDO = "UPDATE account_moves SET outcome = 'undone' WHERE account_id = ? AND outcome IS NOT 'moved'";
const FORGET_PLACES = "DELETE FROM places WHERE cell = ?";
const PLACE = `INSERT INTO places (kind, name, cell, until, version) VALUES (?1, ?2, ?3, NULL, ?4)
  ON CONFLICT (kind, name) DO UPDATE SET cell = excluded.cell, until = NULL, version = max(version + 1, excluded.version)`;

export function createAccountMoves({
  database,
  count,
  call,
  record = () => [],
  closed = async () => undefined,
  log,
  now = Date.now,
  finishMs = FINISH_MS,
}: Deps) {
  /** Those that this process is about to do. */
  const current = new Set<string>();
  const ask = <Step extends keyof AccountSide>(cell: number, step: Step, args: Parameters<AccountSide[Step]>[0]) =>
    call<Awaited<ReturnType<AccountSide[Step]>>>(cell, "account", { step, args });

  /** The cell that has an account, whatever cell has made it. */
  async function cellOf(account: string): Promise<number> {
    const sql = "SELECT cell FROM places WHERE kind = 'account' AND name = ?";
    const [row] = (await database.read(sql, [account])).rows;
    const made = cellOfId(account);
    if (row) return Number(row.cell);
    return made < count() ? made : 0;
  }

  async function prepare({ account, from, to }: Move): Promise<Consignment> {
    for (let attempt = 1; ; attempt++) {
      const consignment = await ask(from, "hold", { account, to });
      await ask(to, "fetch", consignment);
      if (await ask(from, "unchanged", { account, digest: consignment.digest })) return consignment;
      if (attempt === ATTEMPTS) throw accountMoving();
    }
  }

  /** The one write that counts, and with it the entry that says who wanted it. */
  async function decide(move: Move, names: readonly Name[], by: Actor, breaks: readonly string[]): Promise<void> {
    const { account, from, to } = move;
    const place = ({ kind, name }: Name): Statement => ({ sql: PLACE, args: [kind, name, to, now()] });
    await database.write([
      { sql: DECIDE, args: [JSON.stringify(names), account] },
      guard("undecided"),
      ...(isRemains(account) ? [{ sql: FORGET_PLACES, args: [from] }] : [place({ kind: "account", name: account })]),
      ...names.map(place),
      ...record(by, changeOf(move, names, breaks)),
    ]);
  }

  async function finish(move: Move): Promise<void> {
    const { account, from, to } = move;
    if (isRemains(account)) return finishClosing(move);
    await ask(to, "settle", { account, ...(await ask(from, "remove", { account, to })) });
    const keys = await ask(to, "keysOf", { account });
    for (let cell = 0; cell < count(); cell++) if (cell !== to) await ask(cell, "relocate", { account, to, keys });
    await end(account);
  }

  async function finishClosing({ account, from, to }: Move): Promise<void> {
    // Else it is closed already, and only the end is missing.
    if (from < count()) {
      await ask(to, "settle", { account, ...(await ask(from, "remove", { account, to })) });
      for (let cell = 0; cell < from; cell++) await ask(cell, "forgetCell", { cell: from });
      await database.write([{ sql: FORGET_PLACES, args: [from] }]);
      await closed(from);
    }
    await end(account);
  }

  /** Written down first: a process that has lost cell 0, and does not know what was decided since, can't do that. */
  async function undo({ account, from, to }: Move): Promise<void> {
    await database.write([{ sql: UNDO, args: [account] }, guard("undecided")]);
    await ask(to, "discard", { account });
    await ask(from, "release", { account });
    await end(account);
  }

  async function end(account: string): Promise<void> {
    await database.write([{ sql: "DELETE FROM account_moves WHERE account_id = ?", args: [account] }]);
  }

  async function unfinished(): Promise<Move[]> {
    const { rows } = await database.read("SELECT account_id, source, target, outcome FROM account_moves");
    return rows.map((row) => ({
      account: String(row.account_id),
      from: Number(row.source),
      to: Number(row.target),
      hasMoved: row.outcome === "moved",
    }));
  }

  /** Finishes or undoes what a process has left that is gone. */
  async function takeUp(): Promise<void> {
    for (const move of await unfinished()) {
      if (current.has(move.account)) continue;
      current.add(move.account);
      try {
        await (move.hasMoved ? finish(move) : undo(move));
        log.info("a move of an account was taken up", { ...move });
      } catch (error) {
        log.warn("a move of an account can't go on yet", { ...move, error });
      } finally {
        current.delete(move.account);
      }
    }
  }

  async function finishInTime(move: Move): Promise<void> {
    for (const until = performance.now() + finishMs; ; await Bun.sleep(LOOK_MS)) {
      try {
        return await finish(move);
      } catch (error) {
        log.warn("a move of an account can't go on yet", { ...move, error });
        if (performance.now() >= until) throw moveGoesOn(move.to);
      }
    }
  }

  async function carryOut(move: Move, by: Actor, breaks: readonly string[] = []): Promise<MovedAccount> {
    const { account, from, to } = move;
    const began = performance.now();
    // The one that came first goes on to hold it: else it would be taken up as if its process were gone.
    if (current.has(account)) throw movesAlready();
    current.add(account);
    try {
      await database.write([{ sql: BEGIN, args: [account, from, to, now()] }]).catch((error: unknown) => {
        throw isUniqueViolation(error, "account_moves.account_id") ? movesAlready() : error;
      });
      try {
        const { names } = await prepare(move);
        await decide(move, names, by, breaks);
      } catch (error) {
        // If it can't be undone now, it is taken up. The decision may have been written although its answer was lost.
        await undo(move).catch((cause: unknown) =>
          log.warn("a move of an account is ended later", { ...move, error: cause }),
        );
        throw error;
      }
      await finishInTime(move);
    } finally {
      current.delete(account);
    }
    const ms = Math.round(performance.now() - began);
    log.info(isRemains(account) ? "a cell was closed" : "an account has moved to another cell", {
      account,
      from,
      to,
      ms,
    });
    return { account, from, to, ms };
  }

  return {
    cellOf,

    /**
     * Moves an account. Throws 400 for a cell that is none, 404 `USER_NOT_FOUND`, 409 `ACCOUNT_MOVING` if it moves already, and what
     * has kept it from moving; then it is where it was.
     */
    async move(account: string, to: number, by: Actor): Promise<MovedAccount> {
      if (!Number.isInteger(to) || to < 0 || to >= count())
        throw invalidInput({ path: "cell", message: `There is no such cell: they are 0 to ${count() - 1}.` });
      const from = await cellOf(account);
      return from === to ? { account, from, to, ms: 0 } : carryOut({ account, from, to, hasMoved: false }, by);
    },

    /**
     * Closes the last cell, whose accounts have all left: cell 0 takes over what it has besides. Throws 409 `CELL_NOT_LAST` for another one,
     * 409 `CELL_NOT_EMPTY`, and 409 `AUDIT_LOG_BROKEN` if its audit log is not as it was written; then the cell stays open.
     * @param options.takesBroken closes it all the same
     */
    async close(cell: number, by: Actor, { takesBroken = false } = {}): Promise<MovedAccount> {
      requireLast(cell, count());
      const { rows } = await database.read("SELECT 1 FROM account_moves WHERE source = ?1 OR target = ?1", [cell]);
      if (rows.length > 0) throw movesAlready();
      // Sealed anew in cell 0, it would look as if nothing had been changed.
      const breaks = await ask(cell, "auditBreaks", {});
      if (breaks.length > 0 && !takesBroken) throw auditBroken(cell, breaks);
      return carryOut({ account: remainsOf(cell), from: cell, to: 0, hasMoved: false }, by, breaks);
    },

    /** Throws 400 or 409 `CELL_NOT_LAST` for a cell that can't be removed. */
    requireLast: (cell: number) => requireLast(cell, count()),

    /** Whether a cell is being closed. One that was closed and is open again hears that here, once. */
    async isClosing(cell: number): Promise<boolean> {
      const account = remainsOf(cell);
      const { rows } = await database.read("SELECT 1 FROM account_moves WHERE account_id = ?", [account]);
      if (rows.length === 0) await database.write([forgetStatement(account)]);
      return rows.length > 0;
    },

    /** Whether a name belongs to an account that is about to leave cell 0, since that was decided. */
    async hasLeft({ kind, name }: Name): Promise<boolean> {
      const { rows } = await database.read("SELECT names FROM account_moves WHERE outcome = 'moved' AND source = 0");
      return rows.some(({ names }) =>
        (JSON.parse(String(names)) as Name[]).some((one) => one.kind === kind && one.name === name),
      );
    },

    /** Takes up unfinished moves, now and from time to time. Returns how that ends. */
    begin(): () => void {
      let isLooking = false;
      const look = async () => {
        if (isLooking) return;
        isLooking = true;
        await takeUp().catch((error: unknown) => log.warn("moves of accounts could not be looked for", { error }));
        isLooking = false;
      };
      void look();
      const timer = setInterval(() => void look(), LOOK_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

export type AccountMoves = ReturnType<typeof createAccountMoves>;

function changeOf({ account, from, to }: Move, names: readonly Name[], breaks: readonly string[]): AuditedChange {
  if (isRemains(account)) {
    const target = { kind: "cluster", id: String(from), name: String(from) };
    return {
      action: "cluster.cell-remove",
      target,
      ...(breaks.length > 0 && { details: { auditLog: breaks.join("; ") } }),
    };
  }
  const email = names.find(({ kind }) => kind === "email")?.name ?? "";
  return { action: "user.move", target: { kind: "user", id: account, name: email }, details: { cell: { from, to } } };
}

function requireLast(cell: number, count: number): void {
  if (cell === 0)
    throw new AppError(409, "CELL_NOT_LAST", "Cell 0 has the directory of all cells: it can't be removed.");
  if (!Number.isInteger(cell) || cell < 0 || cell >= count)
    throw invalidInput({ path: "cell", message: `There is no such cell: they are 0 to ${count - 1}.` });
  if (cell !== count - 1)
    throw new AppError(409, "CELL_NOT_LAST", `Only the last cell can be removed. Remove cell ${count - 1} first.`);
}

const movesAlready = () =>
  new AppError(409, "ACCOUNT_MOVING", "This account is moving already. Wait until it has arrived.");
const auditBroken = (cell: number, breaks: readonly string[]) =>
  new AppError(
    409,
    "AUDIT_LOG_BROKEN",
    `The audit log of cell ${cell} is not as it was written (${breaks.join("; ")}). Make a backup, since the log of the cell is deleted, then remove the cell with --broken-audit.`,
  );
const moveGoesOn = (to: number) =>
  new AppError(
    503,
    "MOVE_GOES_ON",
    `The account is cell ${to}'s from now on, but a cell does not answer. The move goes on by itself as soon as it does.`,
  );
