// The ledger's journal of a service on several machines: in the database, since the next owner does not have this one's files.
import { existsSync, rmSync } from "node:fs";
import type { Database, Statement } from "../../../src/kernel/database/database.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import { createJournal, type Journal } from "./journal.ts";
import { isLedgerRow, type LedgerRow } from "./ledger-row.ts";

interface Deps {
  database: Pick<Database, "read" | "write">;
  log: Pick<Log, "error" | "warn">;
  /** Of this machine before it was in a cluster: its rows are taken over. */
  journalFile: string;
}

const PUT = "INSERT OR REPLACE INTO ledger_journal (id, row) VALUES (?, ?)";
const DELETE = "DELETE FROM ledger_journal WHERE id = ?";
/** Milliseconds for which deletions wait for others: a row that is deleted too late was written, and is not written again. */
const DELETE_DELAY_MS = 200;

export function createDatabaseJournal({ database, log, journalFile }: Deps): Journal {
  const puts = new Map<string, LedgerRow>();
  const removed = new Set<string>();
  /** Ids whose rows are in the table, or on their way. */
  const kept = new Set<string>();
  let found: LedgerRow[] = [];
  let flushing: Promise<void> | undefined;
  let timer: Timer | undefined;

  /** Writes all puts of one turn of the event loop together, with the deletions that wait. */
  async function write(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    flushing = undefined;
    clearTimeout(timer);
    timer = undefined;
    const statements: Statement[] = [...puts.values()].map((row) => ({
      sql: PUT,
      args: [row[0], JSON.stringify(row)],
    }));
    for (const id of removed) statements.push({ sql: DELETE, args: [id] });
    puts.clear();
    removed.clear();
    if (statements.length > 0) await database.write(statements);
  }

  const writeSoon = () => {
    flushing = undefined;
    void write().catch((error: unknown) => log.warn("the ledger's journal can't be written", { error }));
  };

  return {
    async load() {
      const { rows } = await database.read("SELECT row FROM ledger_journal ORDER BY id");
      found = rows.map(({ row }) => JSON.parse(String(row)) as unknown).filter(isLedgerRow);
      for (const [id] of found) kept.add(id);
      if (!existsSync(journalFile)) return;
      const left = createJournal(journalFile, log).recover();
      if (left.length > 0) {
        await database.write(left.map((row) => ({ sql: PUT, args: [row[0], JSON.stringify(row)] })));
        for (const row of left) if (!kept.has(row[0])) found.push(row);
        for (const [id] of left) kept.add(id);
      }
      rmSync(journalFile, { force: true });
    },
    put(row) {
      puts.set(row[0], row);
      kept.add(row[0]);
      flushing ??= write();
      // Whoever waits for it hears of a failure; nobody may wait.
      flushing.catch(() => undefined);
    },
    whenFlushed: () => flushing,
    remove(id) {
      if (!kept.delete(id)) return;
      puts.delete(id);
      removed.add(id);
      timer ??= setTimeout(writeSoon, DELETE_DELAY_MS);
    },
    recover: () => found.splice(0),
    async close() {
      if (puts.size > 0 || removed.size > 0) await write();
    },
  };
}
