// Berth as crash tests run it: one process over a file, or the two roles as two processes over a libSQL server.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createClient as connect } from "@libsql/client";
import { type Berth, startBerth } from "./berth.ts";
import { startSqld } from "./sqld.ts";

export type Setup = "one process over a file" | "two processes over a server";

export interface CrashService extends AsyncDisposable {
  /** The process with the web surface. */
  readonly web: Berth;
  /** SIGKILL for what runs turns, and each third time for the web, too. */
  kill(): Promise<void>;
  /** Starts again what was killed. */
  restart(): Promise<void>;
  /** Stops the service, so that its rows don't change any more. */
  stop(): Promise<void>;
  rows(sql: string): Promise<Record<string, unknown>[]>;
  /** The only value of the only row, as a number. */
  count(sql: string): Promise<number>;
}

export async function startCrashService(setup: Setup, env: Record<string, string>): Promise<CrashService> {
  return setup === "one process over a file" ? overFile(env) : overServer(env);
}

const counting = (rows: CrashService["rows"]) => async (sql: string) =>
  Number(Object.values((await rows(sql))[0] ?? {})[0]);

async function overFile(env: Record<string, string>): Promise<CrashService> {
  const berth = await startBerth({ env });
  const rows: CrashService["rows"] = async (sql) => {
    const database = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
    try {
      return database.query(sql).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  };
  return {
    web: berth,
    kill: berth.kill,
    restart: () => berth.restart({ keepPorts: true }),
    async stop() {
      await berth.stop();
    },
    rows,
    count: counting(rows),
    [Symbol.asyncDispose]: () => berth[Symbol.asyncDispose](),
  };
}

async function overServer(env: Record<string, string>): Promise<CrashService> {
  await using undo = new AsyncDisposableStack();
  const sqld = await startSqld();
  undo.defer(sqld.stop);
  const shared = { ...env, DATABASE_URL: sqld.url, SECRET_KEY: "a secret key for crash tests alone" };
  const backend = undo.use(await startBerth({ env: { ...shared, ROLE: "backend" } }));
  const web = undo.use(await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } }));
  const database = connect({ url: sqld.url });
  undo.defer(() => database.close());
  const rows: CrashService["rows"] = async (sql) =>
    (await database.execute(sql)).rows.map((row) => ({ ...row }) as Record<string, unknown>);
  const parts = undo.move();
  let kills = 0;
  return {
    web,
    async kill() {
      kills++;
      await Promise.all([backend.kill(), ...(kills % 3 === 0 ? [web.kill()] : [])]);
    },
    async restart() {
      await backend.restart({ keepPorts: true });
      if (!web.running) await web.restart({ keepPorts: true });
    },
    async stop() {
      await web.stop();
      await backend.stop();
    },
    rows,
    count: counting(rows),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
