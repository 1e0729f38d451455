// Writes a database file anew, without free pages and without remains of deleted rows in the unused parts of the others.

/** Stands for a compaction in the queue of writes, so that nothing is written meanwhile. */
export const COMPACT = "VACUUM";

/** Runs on a thread of the addon. The copy is a temporary file, since it may be larger than the memory. */
export async function compactFile(path: string): Promise<void> {
  const { default: Libsql } = await import("libsql/promise");
  const connection = new Libsql(path, {});
  try {
    await connection.exec(`PRAGMA busy_timeout = 5000; PRAGMA wal_autocheckpoint = 0; ${COMPACT}`);
  } finally {
    connection.close();
  }
}
