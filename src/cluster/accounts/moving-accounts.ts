// The table of a cell with the accounts that leave it, have left it, arrive, or have arrived.
import type { AccountHooks, MovingAccount } from "../../kernel/cells/account-hooks.ts";
import type { Name } from "../../kernel/cells/cells.ts";
import type { Database, Statement } from "../../kernel/database/database.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { CellCalls } from "../cells/cell-calls.ts";
import type { Gate } from "./gate.ts";
import type { HeldAgent } from "./held-rows.ts";
import type { Shifts } from "./parcel/number-shifts.ts";
import type { Packed } from "./parcel/parcel.ts";

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

/** What the old cell says once the rows are deleted. */
export interface Removed {
  /** The number of its newest event: no reader has an id above it. */
  latestEvent: number;
}

export interface Details extends Partial<Consignment> {
  agents?: HeldAgent[];
  jobs?: string[];
  shifts?: Shifts;
  done?: number;
  /** The path of the parcel below the data folder. */
  parcel?: string;
  /** The account was here before: what it got then still leads here. */
  wasHere?: boolean;
  /** It had come from another cell: what was given out there leads here. */
  hasCome?: boolean;
}

/** What the steps of both cells need. */
export interface AccountSideDeps {
  here: number;
  database: Database;
  dataDir: string;
  gate: Pick<Gate, "refresh" | "find">;
  hooks: readonly AccountHooks[];
  /** How long an account may go on to write after it is held. Default: 20 seconds. */
  quietMs?: number;
  /** Writes the parcel in a process of its own. */
  pack(account: string, path: string): Promise<Packed>;
  /** In a cluster: brings files of the account to this machine, and keeps those that have arrived for the others. */
  files: {
    bringAgents(agents: readonly string[]): Promise<void>;
    bring(path: string): Promise<boolean>;
    keep(paths: readonly string[]): Promise<void>;
    forget(paths: readonly string[]): Promise<void>;
    /** The shared files below a folder, whose path ends with a slash. */
    list(folder: string): Promise<string[]>;
  };
  /** Where the audit log of this cell is not as it was written, in words. */
  auditBreaks(): Promise<string[]>;
  call: CellCalls["call"];
  log: Pick<Log, "info" | "warn">;
}

export async function readState(
  { read }: Pick<Database, "read">,
  account: string,
): Promise<{ state: string; details: Details } | undefined> {
  const sql = "SELECT state, details FROM moving_accounts WHERE account_id = ?";
  const [row] = (await read(sql, [account])).rows;
  return row && { state: String(row.state), details: JSON.parse(String(row.details)) as Details };
}

export const setStatement = (
  account: string,
  state: "leaving" | "left" | "arriving" | "here",
  cell: number,
  details: Details,
): Statement => ({
  sql: `INSERT INTO moving_accounts (account_id, state, cell, details) VALUES (?, ?, ?, ?)
    ON CONFLICT (account_id) DO UPDATE SET state = excluded.state, cell = excluded.cell, details = excluded.details`,
  args: [account, state, cell, JSON.stringify(details)],
});

export const detailStatement = (account: string, key: keyof Details, value: unknown): Statement => ({
  sql: "UPDATE moving_accounts SET details = json_set(details, ?, json(?)) WHERE account_id = ?",
  args: [`$.${key}`, JSON.stringify(value), account],
});

export const forgetStatement = (account: string): Statement => ({
  sql: "DELETE FROM moving_accounts WHERE account_id = ?",
  args: [account],
});

export const movingOf = (account: string, agents: readonly HeldAgent[] = []): MovingAccount => ({
  userId: account,
  agentIds: agents.map(({ id }) => id),
});
