// Lets one backend at a time write a database on a server: it holds a row, and each of its writes requires that it still does.

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Client, InStatement } from "@libsql/client";
import type { Log } from "../../telemetry/log.ts";
import { SECOND } from "../../util/time.ts";
import { DatabaseInUse } from "../errors.ts";

export interface ServerLock {
  /** Goes before the statements of each write. It fails, and with it all of them, once another backend has the lock. */
  readonly fence: { sql: string; args: string[] };
  /** Waits for a backend that gives no sign of life. Throws `DatabaseInUse` if there is a living one. */
  claim(): Promise<void>;
  /** Called at each write that the fence has refused. */
  lost(): void;
  /** Lets the next backend start at once. */
  release(): Promise<void>;
}

export interface ServerLockOptions {
  log: Log;
  /** Called once, when another backend has taken the database over. Nothing can be written any more. */
  onLost(): void;
  /** How often the holder gives a sign of life, in ms. Default 5,000. */
  renewMs?: number;
  /** How long there must be none until the lock is taken over, in ms. Default 15,000. */
  expiryMs?: number;
  /** Default: this process. */
  holder?: Holder;
}

/** A process, and the machine or container that its number belongs to. */
export interface Holder {
  machine: string;
  host: string;
  pid: number;
}

// It is no migration: the lock is taken before those, so that no backend changes the tables under another one.
const CREATE =
  "CREATE TABLE IF NOT EXISTS backend_lock (id INTEGER PRIMARY KEY CHECK (id = 1), holder TEXT NOT NULL, machine TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, beat INTEGER NOT NULL) STRICT";
const FENCE = `INSERT INTO backend_lock (id, holder, machine, host, pid, beat)
  SELECT 1, ?1, ?2, ?3, ?4, 0 WHERE NOT EXISTS (SELECT 1 FROM backend_lock WHERE holder = ?1)`;

/** Makes the lock of a database; `claim` takes it. */
export function createServerLock(client: Client, options: ServerLockOptions): ServerLock {
  const { log, onLost, renewMs = 5 * SECOND, expiryMs = 15 * SECOND, holder = thisProcess() } = options;
  const id = Bun.randomUUIDv7();
  const fence = { sql: FENCE, args: [id, holder.machine, holder.host, String(holder.pid)] };
  let renewal: Timer | undefined;
  let isLost = false;

  /** Takes the lock if no backend has it; returns who has it then. */
  async function look() {
    const [, , found] = await client.batch([CREATE, insertUnlessHeld(fence), "SELECT * FROM backend_lock"], "write");
    const row = found?.rows[0];
    if (!row) throw new Error("The lock of the database has no row.");
    const at = { machine: String(row.machine), host: String(row.host), pid: Number(row.pid) };
    return { ...at, holder: String(row.holder), beat: Number(row.beat) };
  }

  /** Replaces a holder that has given no sign of life since it was looked at. */
  const replace = (found: { holder: string; beat: number }) =>
    client.execute({
      sql: "UPDATE backend_lock SET holder = ?1, machine = ?2, host = ?3, pid = ?4, beat = 0 WHERE holder = ?5 AND beat = ?6",
      args: [...fence.args, found.holder, found.beat],
    });

  function lost(): void {
    if (isLost) return;
    isLost = true;
    clearInterval(renewal);
    log.error("another backend has taken the database over, since this one gave no sign of life: this one ends");
    onLost();
  }

  async function renew(): Promise<void> {
    try {
      const sql = "UPDATE backend_lock SET beat = beat + 1 WHERE holder = ?";
      const { rowsAffected } = await client.execute({ sql, args: [id] });
      // A database that was restored has no row, or that of another backend.
      if (rowsAffected === 0 && (await look()).holder !== id) lost();
    } catch (error) {
      log.debug("the lock of the database could not be renewed", { error });
    }
  }

  return {
    fence,
    lost,
    async claim() {
      const first = await look();
      const deadline = performance.now() + expiryMs;
      let found = first;
      while (found.holder !== id) {
        if (found.holder !== first.holder || found.beat !== first.beat) throw inUse(found);
        if (isGone(found, holder) || performance.now() >= deadline) await replace(found);
        else {
          if (found === first)
            log.info("another backend may use this database; waiting for a sign of life", { host: found.host });
          await Bun.sleep(renewMs / 5);
        }
        found = await look();
      }
      renewal = setInterval(renew, renewMs).unref();
    },
    async release() {
      clearInterval(renewal);
      // With the server away the row stays, and the next backend waits for a sign of life.
      await client.execute({ sql: "DELETE FROM backend_lock WHERE holder = ?", args: [id] }).catch(() => undefined);
    },
  };
}

const insertUnlessHeld = ({ sql, args }: ServerLock["fence"]): InStatement => ({
  sql: sql.replace("INSERT", "INSERT OR IGNORE"),
  args,
});

const inUse = ({ host, pid }: Holder) =>
  new DatabaseInUse(
    `Another backend uses the database of DATABASE_URL: process ${pid} on ${host}. A database has one backend: stop that one first, or give this one a database of its own.`,
  );

/** Whether a process has certainly ended. Of other machines only its signs of life tell. */
function isGone(found: Holder, me: Holder): boolean {
  if (found.machine !== me.machine) return false;
  // The program before in this process, which has handed its sockets over, or an ended one with the same number.
  if (found.pid === me.pid) return true;
  try {
    process.kill(found.pid, 0);
    return false;
  } catch (error) {
    return Reflect.get(Object(error), "code") === "ESRCH";
  }
}

/** Numbers of processes are those of a container, of which several can have the same host name; and of one start of the machine. */
function thisProcess(): Holder {
  const host = hostname();
  const machine = [
    () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    () => readlinkSync("/proc/self/ns/pid"),
  ];
  try {
    return { machine: machine.map((read) => read()).join(" "), host, pid: process.pid };
  } catch {
    return { machine: host, host, pid: process.pid };
  }
}
