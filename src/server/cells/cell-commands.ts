// Runs a command of the command line in the cell that it concerns, or in all of them.
import { emailName } from "../../../plugins/auth/cells/account-names.ts";
import { normalizeEmail } from "../../../plugins/auth/email.ts";
import type { LiveSnapshot } from "../../../plugins/fleet/index.ts";
import type { MovedAccount } from "../../cluster/accounts/account-moves.ts";
import type { CellCalls } from "../../cluster/cells/cell-calls.ts";
import type { RemoteDirectory } from "../../cluster/cells/remote-directory.ts";
import type { RemovalOrder, RemovalStep } from "../../cluster/cells/remove-cell.ts";
import type { Actor } from "../../kernel/audit/actor.ts";
import { cellOfId } from "../../kernel/cells/marks.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import type { KeyRotationResult } from "../../kernel/security/key-rotation.ts";
import type { RunCommand } from "../control-socket.ts";
import type { FirstCell } from "./first-cell.ts";

/** What an operator sees of a cell. */
export interface CellState {
  cell: number;
  pid: number | undefined;
  accounts: number;
  agents: number;
  state: "ok" | "starting";
}

interface Deps {
  count(): number;
  firstCell: Pick<FirstCell, "readLoads" | "loads">;
  /** Asks a cell about accounts that have left it. */
  whereabouts: Whereabouts;
  idOf(cell: number, email: string): Promise<string | null>;
  moveAccount(account: string, to: number, by: Actor): Promise<MovedAccount>;
  /** Does one step of it. */
  removeCell(order: RemovalOrder): Promise<RemovalStep>;
  /** Of the process of a cell on this machine. */
  pidOf(cell: number): number | undefined;
  directory: Pick<RemoteDirectory, "find" | "leastLoaded">;
  /** Runs it in one cell. */
  runIn(cell: number, ...command: Parameters<RunCommand>): Promise<unknown>;
}

interface Page {
  users: unknown[];
  total: number;
}

export function createCellCommands({
  count,
  firstCell,
  pidOf,
  directory,
  whereabouts,
  idOf,
  moveAccount,
  removeCell,
  runIn,
}: Deps): RunCommand {
  const all = () => Array.from({ length: count() }, (_, cell) => cell);

  async function states(): Promise<CellState[]> {
    const answering = await firstCell.readLoads();
    return all().map((cell) => ({
      cell,
      pid: pidOf(cell),
      ...(firstCell.loads.of(cell) ?? { accounts: 0, agents: 0 }),
      state: answering.has(cell) ? "ok" : "starting",
    }));
  }

  /** The accounts of one cell after the other, as if they were one list. */
  async function listUsers({ offset: text = "0", ...args }: Readonly<Record<string, string>>): Promise<Page> {
    const offset = Number(text);
    let users: unknown[] | undefined;
    let total = 0;
    for (const cell of all()) {
      // Once the page is found, only the lengths of the other lists are asked for.
      const from = users ? Number.MAX_SAFE_INTEGER : Math.max(0, offset - total);
      const page = (await runIn(cell, "user.list", { ...args, offset: String(from) })) as Page;
      total += page.total;
      if (!users && offset < total) users = page.users;
    }
    return { users: users ?? [], total };
  }

  /** The cell that has what an id names: the one that made it, or the one to which the account has moved. */
  async function cellOfMade(id: string): Promise<number> {
    const marked = cellOfId(id);
    const made = marked < count() ? marked : 0;
    return (await whereabouts(made, [id])) ?? made;
  }

  /** Moves an account, given by its id or address. */
  async function move({ account = "", cell = "", ...args }: Readonly<Record<string, string>>): Promise<MovedAccount> {
    const by = operatorOf(args);
    const to = /^\d+$/.test(cell) ? Number(cell) : -1;
    if (!account.includes("@")) return moveAccount(account, to, by);
    const email = normalizeEmail(account);
    const from = email === undefined ? undefined : await directory.find(emailName(email));
    const id = from === undefined || email === undefined ? null : await idOf(from, email);
    if (id === null) throw notFound("There is no account with this email.", "USER_NOT_FOUND");
    return moveAccount(id, to, by);
  }

  const removeStep = ({ cell = "", skip = "[]", takesBroken, ...args }: Readonly<Record<string, string>>) =>
    removeCell({
      cell: /^\d+$/.test(cell) ? Number(cell) : -1,
      skip: JSON.parse(skip) as string[],
      by: operatorOf(args),
      takesBroken: takesBroken === "true",
    });

  async function cellOf(name: string, args: Readonly<Record<string, string>>): Promise<number> {
    if (args.id !== undefined) return cellOfMade(args.id);
    const email = args.email === undefined ? undefined : normalizeEmail(args.email);
    const found = email === undefined ? undefined : await directory.find(emailName(email));
    if (found !== undefined) return found;
    // Admins and invitations are in the first cell.
    return name === "user.create" && args.admin !== "true" ? directory.leastLoaded() : 0;
  }

  /** Every cell has secrets of its own under the same keys. */
  async function rotateKeys(args: Readonly<Record<string, string>>): Promise<Record<string, KeyRotationResult>> {
    const sums: Record<string, KeyRotationResult> = {};
    for (const cell of all()) {
      const results = (await runIn(cell, "vault.rotate", args)) as Record<string, KeyRotationResult>;
      for (const [label, { resealed, unreadable }] of Object.entries(results)) {
        const sum = sums[label] ?? { resealed: 0, unreadable: 0 };
        sums[label] = { resealed: sum.resealed + resealed, unreadable: sum.unreadable + unreadable };
      }
    }
    return sums;
  }

  /** A cell that starts is shown as that. */
  async function live(): Promise<unknown> {
    const { joinSnapshots } = await import("./live-cells.ts");
    const snapshots = await Promise.allSettled(
      all().map((cell) => runIn(cell, "fleet.live", {}) as Promise<LiveSnapshot>),
    );
    const joined = joinSnapshots(snapshots.map((one) => (one.status === "fulfilled" ? one.value : undefined)));
    if (!joined) throw new AppError(503, "BACKEND_UNAVAILABLE", "No cell answers yet. Try again shortly.");
    return joined;
  }

  return async (name, args) => {
    if (name === "cells.list") return states();
    if (name === "cells.move") return move(args);
    if (name === "cells.remove") return removeStep(args);
    if (name === "user.list") return listUsers(args);
    if (name === "fleet.live") return live();
    if (name === "vault.rotate") return rotateKeys(args);
    // A command that names a cell is for that one: its caller goes through all of them.
    return runIn(args.cell === undefined ? await cellOf(name, args) : Number(args.cell), name, args);
  };
}

/** The cell of what another cell has given out, if its account has moved. */
export type Whereabouts = (cell: number, keys: readonly string[]) => Promise<number | undefined>;

/** How cells are asked about accounts, and cell 0 to move them. */
export const accountQuestions = (
  call: CellCalls["call"],
): Pick<Deps, "whereabouts" | "idOf" | "moveAccount" | "removeCell"> => ({
  async whereabouts(cell, keys) {
    const found = await call<{ cell: number } | "moving" | null>(cell, "account", {
      step: "whereabouts",
      args: { keys },
    });
    return found === null || found === "moving" ? undefined : found.cell;
  },
  idOf: (cell, email) => call(cell, "account", { step: "idOf", args: { email } }),
  moveAccount: (account, to, by) => call(0, "moveAccount", { account, to, by }),
  removeCell: (order) => call(0, "removeCell", order),
});

/** Who runs a command: a user of the system. */
const operatorOf = ({ operator = "" }: Readonly<Record<string, string>>): Actor => ({
  kind: "command",
  id: null,
  name: operator,
  address: null,
  requestId: null,
});
