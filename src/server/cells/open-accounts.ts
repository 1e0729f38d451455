// Lets accounts move to and from a cell: puts the gate before its surfaces, and answers what the driver in cell 0 asks for.
import { accountFiles } from "../../cluster/accounts/account-files.ts";
import { type AccountSide, createAccountSide } from "../../cluster/accounts/account-side.ts";
import { remainsOf } from "../../cluster/accounts/cell-remains.ts";
import { createForgetting } from "../../cluster/accounts/deleted-accounts.ts";
import { createGate } from "../../cluster/accounts/gate.ts";
import { readNames } from "../../cluster/accounts/held-rows.ts";
import type { Packed } from "../../cluster/accounts/parcel/parcel.ts";
import type { CallHandlers } from "../../cluster/cells/calls.ts";
import type { CellCalls } from "../../cluster/cells/cell-calls.ts";
import type { CellNames } from "../../cluster/cells/cell-names.ts";
import type { Database } from "../../kernel/database/database.ts";
import { AppError } from "../../kernel/errors.ts";
import { createKeyedQueue } from "../../kernel/util/keyed-queue.ts";
import type { App } from "../app.ts";
import { programCommand } from "../backups/backup-process.ts";
import type { OpenCell } from "../service/cell.ts";

/** A message names so many. */
const SAID_BREAKS = 3;

export interface OpenAccounts {
  /** The surfaces of the cell behind its gate. */
  readonly surfaces: Pick<App, "web" | "backend">;
  readonly handlers: CallHandlers;
}

export function openAccounts(
  { kernel, app }: Pick<OpenCell, "kernel" | "app">,
  names: CellNames,
  call: CellCalls["call"],
): OpenAccounts {
  const { database, config, log, files } = kernel;
  const { agentsDomain, dataDir } = config;
  const inTurn = createKeyedQueue();
  const gate = createGate({ database, agentsDomain, here: names.here });
  const side = createAccountSide({
    here: names.here,
    database,
    dataDir,
    gate,
    hooks: names.accountHooks,
    pack: (account, path) => packInProcess(database.file, dataDir, account, path),
    files: accountFiles(files),
    auditBreaks: () => breaksOf(kernel.audit),
    call,
    log,
  });
  side.sweep().catch((error: unknown) => log.warn("parcels of moves that are over could not be deleted", { error }));
  const { countKept, forgetAccount } = createForgetting(() => names.others.length + 1, call);
  names.attach({
    countKept,
    forgetAccount: (account, given) => forgetAccount({ account, from: names.here, names: given }),
    namesOf: (account) => readNames(database, account),
    isArriving: side.isArriving,
    isMoving: async (keys) => (await gate.find(keys)) === "moving",
    async movedTo(keys) {
      const found = await gate.find(keys);
      return found === undefined || found === "moving" ? undefined : found.cell;
    },
  });
  gate.refresh().catch((error: unknown) => log.warn("accounts that move could not be read", { error }));
  void reopen(names.here, database, call, side).catch((error: unknown) =>
    log.warn("whether this cell is open could not be found out", { error }),
  );
  return {
    surfaces: { web: gate.before(app.web), backend: gate.before(app.backend) },
    handlers: {
      account: ({ step, args }: { step: keyof AccountSide; args: object }) => {
        // A step whose answer was lost may still be under way when it is asked for again.
        const run = async (): Promise<unknown> => side[step](args as never);
        return "account" in args ? inTurn(String(args.account), run) : run();
      },
    },
  };
}

/** A cell that was closed, and is open again, takes accounts again. It stays as it is while it is being closed. */
async function reopen(
  here: number,
  { read }: Pick<Database, "read">,
  call: CellCalls["call"],
  side: AccountSide,
): Promise<void> {
  const sql = "SELECT 1 FROM moving_accounts WHERE account_id = ? AND state = 'left'";
  if ((await read(sql, [remainsOf(here)])).rows.length === 0) return;
  if (!(await call<boolean>(0, "isClosing", here))) await side.reopen();
}

/** What the last change wrote is sealed first. */
async function breaksOf(audit: OpenCell["kernel"]["audit"]): Promise<string[]> {
  await audit.seal();
  const { ok, breaks } = await audit.verify();
  if (ok) return [];
  const said = breaks.slice(0, SAID_BREAKS).map(({ seq, problem }) => `entry ${seq}: ${problem}`);
  return said.length > 0 ? said : ["entries wait to be sealed"];
}

/** Packs with this program in a process of its own, so that this one goes on. */
async function packInProcess(file: string | undefined, ...[dataDir, account, path]: string[]): Promise<Packed> {
  if (file === undefined) throw onServer();
  const command = [...programCommand(), "cells", "pack", file, dataDir ?? "", account ?? "", path ?? ""];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, text, failure] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(failure.trim().split("\n").at(-1) || "The account could not be packed.");
  return JSON.parse(text) as Packed;
}

const onServer = () =>
  new AppError(
    409,
    "DATABASE_ON_SERVER",
    "Accounts can't leave a cell whose database is on a server. Give cell 0 a file (DATABASE_URL).",
  );
