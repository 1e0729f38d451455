// Looks into the ledger of a server under test.
import { expect } from "bun:test";
import { join } from "node:path";
import { openReadOnly } from "../../src/kernel/database/connection.ts";
import type { TestServer } from "../../tests/support/server.ts";
import { checkLedger } from "../ai/ledger-check/ledger-check.ts";

export const rowsOf = async ({ kernel }: TestServer, sql: string): Promise<unknown> =>
  (await kernel.database.read(sql)).rows.map((row) => ({ ...row }));

/** Expects that payments, credits and usage agree. */
export function expectSoundLedger({ kernel }: TestServer): void {
  const connection = openReadOnly(join(kernel.config.dataDir, "berth.db"));
  try {
    expect(checkLedger(connection, "/nowhere").comparisons.filter(({ differing }) => differing > 0)).toEqual([]);
  } finally {
    connection.close();
  }
}
