// Runs `berth ledger check`, which proves that payments, credits and usage agree, also while the service runs.

import { join } from "node:path";
import { checkLedger, type LedgerReport } from "../../../../plugins/ai/ledger-check/ledger-check.ts";
import { clusterSettings } from "../../../cluster/settings.ts";
import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { openReadOnly } from "../../../kernel/database/connection.ts";
import { localDatabasePath } from "../../../kernel/database/database-path.ts";
import { StartError } from "../../../kernel/errors.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { requireDatabase } from "../../cells/existing-database.ts";
import { cellDatabaseUrl, cellDataDir } from "../../cells/folders.ts";
import { loadAllSettings } from "../../settings.ts";

/** Returns the exit code: 0, 1 if anything differs, or 2 with the usage on standard error. */
export async function ledgerCommand([name, ...rest]: string[], asJson: boolean): Promise<number> {
  if (name !== "check" || rest.length > 0) {
    process.stderr.write(`Usage: ${programName()} ledger check [--json]\n`);
    return 2;
  }
  const config = loadAllSettings(environment());
  requireDatabase(config);
  const { cells } = config.of(clusterSettings);
  const reports = Array.from({ length: cells }, (_, cell) => {
    const path = localDatabasePath(cellDatabaseUrl(config, cell));
    if (path === undefined)
      throw new StartError("The database is on a server. Run this on a backup of it: DATABASE_URL=file:BACKUP.");
    const connection = openReadOnly(path);
    try {
      return { cell, ...checkLedger(connection, join(cellDataDir(config, cell), "ledger.journal")) };
    } finally {
      connection.close();
    }
  });
  const ok = reports.every((report) => report.ok);
  const text = asJson
    ? JSON.stringify({ ok, cells: reports }, null, 2)
    : reports.map((report) => `${cells > 1 ? `Cell ${report.cell}\n` : ""}${toText(report)}`).join("\n\n");
  process.stdout.write(`${text}\n`);
  return ok ? 0 : 1;
}

function toText({ ok, comparisons, open, totals }: LedgerReport): string {
  const lines = comparisons.flatMap(({ what, compared, differences, differing }) => [
    `${differing === 0 ? "ok  " : "DIFF"}  ${what}: ${compared} compared${differing === 0 ? "" : `, ${count(differing, "differs", "differ")}`}`,
    ...differences.map(
      ({ where, expected, found, unit }) =>
        `        ${where}: ${expected} expected, ${found} found, ${found - expected} ${unit} off`,
    ),
    ...(differing > differences.length ? [`        and ${differing - differences.length} more`] : []),
  ]);
  const paid = totals.paid.map(
    ({ currency, amount, payments }) => `${amount} ${currency} in ${count(payments, "payment")}`,
  );
  return [
    ...lines,
    "",
    `Money in, in the smallest units: ${paid.join(", ") || "none"}. Credits held: ${totals.credits}, owed after refunds: ${totals.owedCredits}. Used on the operator's keys: ${totals.usedMicroUsd} micro-USD.`,
    ...(open.calls > 0
      ? [`${count(open.calls, "call is", "calls are")} under way, at most ${open.microUsd} micro-USD.`]
      : []),
    ok
      ? "Payments, credits and usage agree."
      : "They do not agree. Keep a backup of the database as it is now, and find what wrote to it besides this program.",
  ].join("\n");
}
