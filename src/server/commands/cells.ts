// Runs `berth cells`, which shows the cells of the service, `berth cells move`, `berth cells remove`, and what the service itself starts: `cells run N COUNT` for a
// cell, `cells pack …` for the parcel of an account.

import type { MovedAccount } from "../../cluster/accounts/account-moves.ts";
import type { RemovalStep } from "../../cluster/cells/remove-cell.ts";
import { clusterSettings } from "../../cluster/settings.ts";
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { AppError, StartError } from "../../kernel/errors.ts";
import { count } from "../../kernel/util/text/count.ts";
import type { CellState } from "../cells/cell-commands.ts";
import { requireDatabase } from "../cells/existing-database.ts";
import { loadAllSettings } from "../settings.ts";
import { askService, noServiceError, operator } from "./run-command.ts";

/** Milliseconds between two lines that say how far a removal is. */
const SHOWN_MS = 1_000;

export async function cellsCommand(
  [name, ...numbers]: string[],
  plugins: string[],
  asJson: boolean,
  takesBroken: boolean,
): Promise<number> {
  const [cell = 0, cells = 0] = numbers.map(Number);
  if (name === "run" && cell > 0 && cell < cells) return runCell(cell, cells, plugins);
  if (name === "pack") return packAccount(numbers);
  const [account, target] = numbers;
  if (name === "move" && account !== undefined && target !== undefined) return moveAccount(account, target, asJson);
  if (name === "remove" && account !== undefined && target === undefined)
    return removeCell(account, asJson, takesBroken);
  if (name !== undefined) {
    process.stderr.write(
      `Usage: ${programName()} cells [--json] | cells move ACCOUNT CELL [--json] | cells remove CELL [--broken-audit] [--json]\n`,
    );
    return 2;
  }
  const states = await statesOf(loadAllSettings(environment()));
  process.stdout.write(asJson ? `${JSON.stringify(states, null, 2)}\n` : table(states));
  return 0;
}

async function moveAccount(account: string, cell: string, asJson: boolean): Promise<number> {
  const moved = (await askCells(loadAllSettings(environment()), "cells.move", { account, cell })) as MovedAccount;
  const { from, to, ms } = moved;
  const text =
    from === to ? `The account is in cell ${to} already.` : `Moved from cell ${from} to cell ${to} in ${ms} ms.`;
  process.stdout.write(`${asJson ? JSON.stringify(moved, null, 2) : text}\n`);
  return 0;
}

/** Moves one account after the other, and closes the cell. Interrupted, it goes on where it was when it is run again. */
async function removeCell(cell: string, asJson: boolean, takesBroken: boolean): Promise<number> {
  const config = loadAllSettings(environment());
  const failed = new Map<string, string>();
  let moved = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const skip = JSON.stringify([...failed.keys()]);
    const step = (await askCells(config, "cells.remove", {
      cell,
      skip,
      takesBroken: String(takesBroken),
    })) as RemovalStep;
    if (step.moved) moved++;
    if (step.failed) failed.set(step.failed.account, step.failed.message);
    if (step.isClosed) {
      const next = config.of(clusterSettings).url === undefined ? ` Set CELLS=${cell} for the next start.` : "";
      const text = `Cell ${cell} is removed: ${count(moved, "account")} moved to other cells.${next}`;
      process.stdout.write(`${asJson ? JSON.stringify({ cell: Number(cell), moved }) : text}\n`);
      return 0;
    }
    if (!step.moved && !step.failed) {
      const reasons = [...failed].map(([account, message]) => `${account}: ${message}`).join("\n");
      throw new StartError(
        `${count(step.left, "account")} could not be moved, so cell ${cell} stays. Run the command again to go on.\n${reasons}`,
      );
    }
    const isDue = performance.now() - shownAt >= SHOWN_MS;
    if (isDue && !asJson) process.stdout.write(`${moved} moved, ${step.left} left\n`);
    if (isDue) shownAt = performance.now();
  }
}

/** Prints what was packed. */
async function packAccount([file = "", dataDir = "", account = "", out = ""]: string[]): Promise<number> {
  const { writeParcel } = await import("../../cluster/accounts/parcel/parcel-writer.ts");
  process.stdout.write(JSON.stringify(writeParcel({ file, dataDir, account }, out)));
  return 0;
}

const statesOf = async (config: Config) => (await askCells(config, "cells.list")) as CellState[];

/** Throws StartError without a service, or with one that has a single cell. */
async function askCells(config: Config, command: string, args?: Record<string, string>): Promise<unknown> {
  // A machine of a cluster may have no copy of cell 0.
  if (config.of(clusterSettings).url === undefined) requireDatabase(config);
  const answer = await askService(config, command, { operator: operator(), ...args }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "UNKNOWN_COMMAND")) throw error;
    throw new StartError(
      "The service has one cell, with all accounts and agents. With CELLS=2 or more it has several.",
    );
  });
  if (answer === undefined) throw noServiceError(config);
  return answer;
}

/** Returns -1: the process runs until a signal, or until the service that started it ends. */
async function runCell(cell: number, count: number, plugins: string[]): Promise<number> {
  const { openParentLink } = await import("../cells/parent-link.ts");
  const parent = openParentLink(cell, count);
  // The service ends its cells, once their last requests are answered.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
  const { serve } = await import("../serve.ts");
  const running = await serve({ env: environment(), plugins, parent });
  const stop = () =>
    void running.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  parent.onStop(stop);
  await parent.ready(running.addresses.backend ?? "");
  return -1;
}

function table(states: readonly CellState[]): string {
  const rows = states.map(({ cell, pid, accounts, agents, state }) =>
    [cell, pid ?? "–", accounts, agents, state].map(String),
  );
  const all = [["cell", "process", "accounts", "agents", "state"], ...rows];
  const widths = all[0]?.map((_, at) => Math.max(...all.map((row) => row[at]?.length ?? 0))) ?? [];
  return `${all
    .map((row) =>
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")}\n`;
}
