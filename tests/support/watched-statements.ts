// Tells which statements run on database files, on the main thread and on others.
import Libsql from "libsql";
import BackgroundLibsql from "libsql/promise";

/** `main`: it holds the event loop; `thread`: it runs on a thread of its own. */
export type Where = "main" | "thread";

const CONTROLS = /^\s*(BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK|PRAGMA)/;
/** On a thread, arguments and rows lie in temporary tables. */
const ARGUMENT = /\(SELECT value FROM temp\.arguments WHERE number = (\d+)\)/g;
const FOUND = /^INSERT INTO temp\.found \([^)]*\) /;

/** Calls `note` for each statement that is prepared from now on, each time it runs; what begins and ends transactions is left out. Returns what ends it. */
export function watchStatements(note: (sql: string, where: Where) => void): () => void {
  const { prepare } = Libsql.prototype;
  const { exec } = BackgroundLibsql.prototype;
  const noteStatement = (sql: string, where: Where) => {
    if (!CONTROLS.test(sql)) note(sql, where);
  };

  Libsql.prototype.prepare = function watched(this: Libsql.Database, sql: string) {
    const native = prepare.call(this, sql);
    for (const name of ["all", "run"] as const) {
      const method = native[name].bind(native) as (...args: unknown[]) => never;
      native[name] = (...args: unknown[]) => {
        noteStatement(sql, "main");
        return method(...args);
      };
    }
    return native;
  } as typeof prepare;
  BackgroundLibsql.prototype.exec = function watched(sql: string) {
    const asSent = sql.replace(ARGUMENT, "?$1").replace(FOUND, "");
    if (!/\btemp\.|TEMP TABLE/.test(asSent)) noteStatement(asSent, "thread");
    return exec.call(this, sql);
  };
  return () => {
    Libsql.prototype.prepare = prepare;
    BackgroundLibsql.prototype.exec = exec;
  };
}
