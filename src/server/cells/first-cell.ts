// What cell 0 does for all: it has the directory of names, and chooses the cells of new accounts.

import { type AccountMoves, createAccountMoves } from "../../cluster/accounts/account-moves.ts";
import { type CallHandlers, type Calls, callHandler } from "../../cluster/cells/calls.ts";
import type { CellCalls } from "../../cluster/cells/cell-calls.ts";
import { type CellNames, createCellNames } from "../../cluster/cells/cell-names.ts";
import { createDirectory, type Directory } from "../../cluster/cells/directory.ts";
import { type CellLoad, createLoads, type Loads } from "../../cluster/cells/loads.ts";
import { createCellRemoval } from "../../cluster/cells/remove-cell.ts";
import type { Actor } from "../../kernel/audit/actor.ts";
import type { AuditedChange } from "../../kernel/audit/audit.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database } from "../../kernel/database/database.ts";
import { StartError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../kernel/util/time.ts";
import type { OpenCell } from "../service/cell.ts";
import { createCellSide } from "./cell-side.ts";
import { type OpenAccounts, openAccounts } from "./open-accounts.ts";

/** A cell that is new is asked so often until it answers, since it gets no accounts before. */
const LOOK_MS = SECOND;
/** How often each cell is asked what it has. */
const LOADS_MS = 10 * SECOND;
const SWEEP_MS = MINUTE;

export interface FirstCellDeps {
  /** How many cells there are. */
  count(): number;
  call: CellCalls["call"];
  /** Takes the last cell out of service: cell 0 has all that it had. */
  closed(cell: number): Promise<void>;
  log: Log;
}

export interface BegunFirstCell {
  surfaces: OpenAccounts["surfaces"];
  call: Calls["call"];
  end(): void;
}

export interface FirstCell {
  readonly loads: Loads;
  /** Asks each cell what it has. One that does not answer now keeps what it told last. Returns the cells that have answered. */
  readLoads(): Promise<ReadonlySet<number>>;
  /** For the kernel of cell 0, whenever it is opened. */
  cells(database: Database): CellNames;
  /** Begins its work for the others. Returns its surfaces, how it is called, and how the work ends. */
  begin(cell: OpenCell, more?: CallHandlers): BegunFirstCell;
  /** Throws StartError before it has begun. */
  readonly moves: AccountMoves;
}

export function createFirstCell({ count, call, closed, log }: FirstCellDeps): FirstCell {
  const loads = createLoads(count);
  let open: { directory: Directory; names: CellNames; moves: AccountMoves } | undefined;
  let audit: OpenCell["kernel"]["audit"] | undefined;
  const record = (by: Actor, change: AuditedChange) => (audit ? [audit.statementFor(by, change)] : []);
  function opened() {
    if (!open) throw new StartError("The directory of cells is not open yet.");
    return open;
  }

  let readAt = Number.NEGATIVE_INFINITY;
  const mayReadLoads = () => {
    const isNew = Array.from({ length: count() }, (_, cell) => cell).some((cell) => loads.of(cell) === undefined);
    return isNew || performance.now() - readAt >= LOADS_MS;
  };

  async function readLoads(): Promise<ReadonlySet<number>> {
    readAt = performance.now();
    const answers = await Promise.allSettled(
      Array.from({ length: count() }, async (_, cell) => {
        loads.report(cell, await call<CellLoad>(cell, "load", undefined, 0));
        return cell;
      }),
    );
    return new Set(answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : [])));
  }

  return {
    loads,
    readLoads,
    cells(database) {
      const directory = createDirectory({
        database,
        knows: (cell, name) => (cell === 0 ? names.knows(name) : call<boolean>(cell, "knows", name)),
        usedInFirst: async (name) => (await names.uses(name)) && !(await moves.hasLeft(name)),
        log,
      });
      const names = createCellNames({
        here: 0,
        count,
        directory,
        leastLoaded: async () => loads.next(),
        ask: (to, question, text) => call<string>(to, "answer", { question, text }),
        bring: (account, by) => moves.move(account, 0, by),
        log,
      });
      const moves = createAccountMoves({ database, count, call, record, closed, log });
      open = { directory, names, moves };
      return names;
    },
    get moves() {
      return opened().moves;
    },
    begin(cell, more) {
      const { directory, names, moves } = opened();
      audit = cell.kernel.audit;
      const accounts = openAccounts(cell, names, call);
      const handlers = {
        ...createCellSide(cell, names, accounts),
        ...more,
        find: async (name: Name) => (await names.find(name)) ?? null,
        reserve: async (wanted: { cell: number; names: Name[] }) =>
          (await directory.reserve(wanted.cell, wanted.names)) ?? null,
        confirm: (used: { cell: number; names: Name[] }) => directory.confirm(used.cell, used.names),
        leastLoaded: () => loads.next(),
        moveAccount: ({ account, to, by }: { account: string; to: number; by: Actor }) => moves.move(account, to, by),
        removeCell: createCellRemoval({ call, loads, moves: () => moves }),
        isClosing: (other: number) => moves.isClosing(other),
      };
      const timers = [
        setInterval(() => void (mayReadLoads() && readLoads()), LOOK_MS),
        setInterval(() => {
          directory.sweep().catch((error: unknown) => log.warn("names could not be swept", { error }));
        }, SWEEP_MS),
      ];
      for (const timer of timers) timer.unref();
      void readLoads();
      const endMoves = moves.begin();
      return {
        surfaces: accounts.surfaces,
        call: <Result>(name: string, args?: unknown) => callHandler<Result>(handlers, name, args),
        end() {
          for (const timer of timers) clearInterval(timer);
          endMoves();
        },
      };
    },
  };
}
