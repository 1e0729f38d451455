// Loaded before the service's own code, from its source: writes down which statements run while a request is answered. Each request
// with the header `x-operation` is one line of JSON in the file BERTH_STATEMENT_LOG: { operation, status, statements, elsewhere }, where
// `elsewhere` are the statements that ran on a thread of their own.
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import Libsql from "libsql";
import BackgroundLibsql from "libsql/promise";

const { BERTH_STATEMENT_LOG: file } = process.env;
/** The statements of the request that is being answered. */
const ran = new AsyncLocalStorage();
const CONTROLS = /^\s*(BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK|PRAGMA)/;
const note = (where, sql) => {
  if (!CONTROLS.test(sql)) ran.getStore()?.[where].push(sql);
};

const { prepare } = Libsql.prototype;
Libsql.prototype.prepare = function watched(sql) {
  const native = prepare.call(this, sql);
  for (const name of ["all", "run"]) {
    const method = native[name].bind(native);
    native[name] = (...args) => {
      note("statements", sql);
      return method(...args);
    };
  }
  return native;
};

// On a thread of its own, arguments and rows lie in temporary tables.
const ARGUMENT = /\(SELECT value FROM temp\.arguments WHERE number = (\d+)\)/g;
const { exec } = BackgroundLibsql.prototype;
BackgroundLibsql.prototype.exec = function watched(sql) {
  const asSent = sql.replace(ARGUMENT, "?$1").replace(/^INSERT INTO temp\.found \([^)]*\) /, "");
  if (!/\btemp\.|TEMP TABLE/.test(asSent)) note("elsewhere", asSent);
  return exec.call(this, sql);
};

const { serve } = Bun;
Bun.serve = (options) =>
  serve({
    ...options,
    fetch(request, server) {
      const operation = request.headers.get("x-operation");
      if (!operation) return options.fetch(request, server);
      return ran.run({ statements: [], elsewhere: [] }, async () => {
        const response = await options.fetch(request, server);
        const line = { operation, status: response?.status ?? 101, ...ran.getStore() };
        appendFileSync(file, `${JSON.stringify(line)}\n`);
        return response;
      });
    },
  });
