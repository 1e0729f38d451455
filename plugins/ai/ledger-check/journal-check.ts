// Compares the journal of calls with the rows of the ledger: a finished call stands in both with the same cost.

import { existsSync, readFileSync } from "node:fs";
import { isLedgerRow, type LedgerRow } from "../ledger/ledger-row.ts";
import { type Comparison, comparison, type Read } from "./comparison.ts";

export interface JournalState extends Comparison {
  /** Calls under way, or left by a crash for the next start, and the most that they cost in micro-USD. */
  open: number;
  openMicroUsd: number;
}

const COST = 9;
const CREDIT = 13;

/** @param file the journal of a service on one machine; one on several keeps it in the database */
export function checkJournal(read: Read, file: string): JournalState {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const stored = read("SELECT row FROM ledger_journal").map(({ row }) => String(row));
  const latest = new Map<string, LedgerRow>();
  for (const line of [...lines, ...stored]) {
    const value = parse(line);
    if (typeof value === "string") latest.delete(value);
    else if (isLedgerRow(value)) latest.set(value[0], value);
  }
  const ids = JSON.stringify([...latest.keys()]);
  const written = read(
    "SELECT id, cost_micro_usd AS cost, credit_micro_usd AS credit FROM usage WHERE id IN (SELECT value FROM json_each(?1))",
    [ids],
  );
  const differences = written.flatMap(({ id, cost, credit }) => {
    const row = latest.get(String(id));
    latest.delete(String(id));
    if (!row || (row[COST] === Number(cost) && row[CREDIT] === Number(credit))) return [];
    return [{ where: `call ${id}`, expected: row[COST], found: Number(cost), unit: "micro-USD" }];
  });
  const openMicroUsd = [...latest.values()].reduce((sum, row) => sum + row[COST], 0);
  const what = "finished calls in the journal and in the ledger";
  return { ...comparison("journal-rows", what, written.length, differences), open: latest.size, openMicroUsd };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The last line may be half written.
    return undefined;
  }
}
