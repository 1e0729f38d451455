// Removes the last cell, step by step: its accounts move to the others, then it is closed. A step is one call, so that the command which
// asks for them shows how far it is, can be interrupted, and goes on where it was.

import type { Actor } from "../../kernel/audit/actor.ts";
import { AppError } from "../../kernel/errors.ts";
import { MINUTE } from "../../kernel/util/time.ts";
import type { AccountMoves } from "../accounts/account-moves.ts";
import type { CellCalls } from "./cell-calls.ts";
import type { Loads } from "./loads.ts";

export interface RemovalOrder {
  cell: number;
  /** Accounts that could not move in this run. */
  skip: readonly string[];
  by: Actor;
  /** Closes the cell although its audit log is not as it was written. */
  takesBroken?: boolean;
}

/** What one step did. */
export interface RemovalStep {
  /** Accounts that are still in the cell. */
  left: number;
  isClosed: boolean;
  moved?: { account: string; to: number };
  /** An account that could not move. */
  failed?: { account: string; message: string };
}

interface Deps {
  call: CellCalls["call"];
  loads: Pick<Loads, "next" | "spare">;
  moves(): Pick<AccountMoves, "move" | "close" | "requireLast">;
}

/** How long a cell gets no new accounts after a step: until the next one, or until the command was interrupted. */
const SPARED_MS = MINUTE;

export function createCellRemoval({ call, loads, moves }: Deps) {
  return async ({ cell, skip, by, takesBroken = false }: RemovalOrder): Promise<RemovalStep> => {
    moves().requireLast(cell);
    loads.spare(cell, SPARED_MS);
    const asked = { step: "accounts", args: { skip } };
    const { next, count: left } = await call<{ next: string | null; count: number }>(cell, "account", asked);
    if (next === null) {
      if (left > 0) return { left, isClosed: false };
      await moves().close(cell, by, { takesBroken });
      return { left, isClosed: true };
    }
    const to = loads.next();
    try {
      await moves().move(next, to, by);
      return { left: left - 1, isClosed: false, moved: { account: next, to } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { left, isClosed: false, failed: { account: next, message: error.message } };
    }
  };
}
