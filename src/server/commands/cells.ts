// Runs `berth cells`, which shows the cells of this machine, and `berth cells run N COUNT`, with which the service starts one.
import { type Config, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { AppError, StartError } from "../../kernel/errors.ts";
import type { CellState } from "../cells/cell-commands.ts";
import { requireDatabase } from "../cells/existing-database.ts";
import { loadAllSettings } from "../settings.ts";
import { askService, noServiceError } from "./run-command.ts";

export async function cellsCommand([name, ...numbers]: string[], plugins: string[], asJson: boolean): Promise<number> {
  const [cell = 0, count = 0] = numbers.map(Number);
  if (name === "run" && cell > 0 && cell < count) return runCell(cell, count, plugins);
  if (name !== undefined) {
    process.stderr.write(`Usage: ${programName()} cells [--json]\n`);
    return 2;
  }
  const states = await statesOf(loadAllSettings(environment()));
  process.stdout.write(asJson ? `${JSON.stringify(states, null, 2)}\n` : table(states));
  return 0;
}

/** Throws StartError without a service, or with one that has no cells to list. */
async function statesOf(config: Config): Promise<CellState[]> {
  requireDatabase(config);
  const states = await askService(config, "cells.list").catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === "UNKNOWN_COMMAND")) throw error;
    throw new StartError(
      "The service has one cell, with all accounts and agents. With CELLS=2 or more it has several.",
    );
  });
  if (states === undefined) throw noServiceError(config);
  return states as CellState[];
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
