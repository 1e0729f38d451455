// Proves that payments, credits and usage agree, on the database as it is at one moment, also beside the running service.

import type { Connection } from "../../../src/kernel/database/connection.ts";
import type { Comparison, Read } from "./comparison.ts";
import { checkCredits } from "./credit-checks.ts";
import { checkJournal } from "./journal-check.ts";
import { checkUsage } from "./usage-checks.ts";

export interface LedgerReport {
  ok: boolean;
  comparisons: Comparison[];
  /** Calls under way, or left by a crash for the next start. */
  open: { calls: number; microUsd: number };
  totals: {
    paid: { currency: string; amount: number; payments: number }[];
    credits: number;
    owedCredits: number;
    usedMicroUsd: number;
  };
}

/** @param journalFile that of the service on this machine */
export function checkLedger(connection: Connection, journalFile: string, now = Date.now()): LedgerReport {
  const read: Read = (sql, args = []) => connection.run(sql, args).rows.map((row) => ({ ...row }));
  // One moment for all queries; a reader holds up no writer.
  connection.run("BEGIN");
  try {
    const journal = checkJournal(read, journalFile);
    const comparisons = [...checkUsage(read, now), ...checkCredits(read), journal].map(
      ({ name, what, compared, differences, differing }) => ({ name, what, compared, differences, differing }),
    );
    return {
      ok: comparisons.every(({ differing }) => differing === 0),
      comparisons,
      open: { calls: journal.open, microUsd: journal.openMicroUsd },
      totals: totalsOf(read),
    };
  } finally {
    connection.run("COMMIT");
  }
}

function totalsOf(read: Read): LedgerReport["totals"] {
  const paid = read(
    "SELECT currency, sum(amount) AS amount, count(*) AS payments FROM payments GROUP BY currency ORDER BY currency",
  );
  const [{ credits } = {}] = read("SELECT coalesce(sum(credits), 0) AS credits FROM users");
  const [{ owed } = {}] = read("SELECT coalesce(sum(credits), 0) AS owed FROM credit_debts");
  const [{ used } = {}] = read(
    "SELECT coalesce(sum(cost_micro_usd), 0) AS used FROM usage_account_days WHERE own_key = 0",
  );
  return {
    paid: paid.map((row) => ({
      currency: String(row.currency),
      amount: Number(row.amount),
      payments: Number(row.payments),
    })),
    credits: Number(credits),
    owedCredits: Number(owed),
    usedMicroUsd: Number(used),
  };
}
