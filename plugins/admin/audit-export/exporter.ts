// Sends sealed entries of the audit log to AUDIT_TO: in order, at least once, and after a kill from where it was.
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { OutageWatch } from "../../../src/kernel/telemetry/outages.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { Deliver, ExportedEntry } from "./targets.ts";

const BATCH = 100;
const MAX_DELAY_MS = 5 * MINUTE;
/** Characters of a text in a shortened entry; hashes and times are shorter. */
const SHORT_TEXT = 256;

const ENTRIES = `SELECT s.seq, s.mac, l.* FROM audit_seals AS s JOIN audit_log AS l ON l.id = s.entry_id
  WHERE s.seq > ? AND s.mac IS NOT NULL ORDER BY s.seq LIMIT ${BATCH}`;

interface Deps extends Pick<Kernel, "database" | "log" | "metrics"> {
  /** Names the target in the database; another target gets the log from its beginning. */
  target: string;
  deliver: Deliver;
  outage: OutageWatch;
}

export function createExporter({ database, log, metrics, target, deliver, outage }: Deps) {
  const exported = metrics.counter("berth_audit_exported_total", "Entries of the audit log sent to AUDIT_TO.");
  const failures = metrics.counter("berth_audit_export_failures_total", "Deliveries to AUDIT_TO that failed.");
  let isStopped = false;
  let running: Promise<void> | undefined;
  let isDue = false;
  let failuresInARow = 0;
  let retry: Timer | undefined;

  async function sendAll(): Promise<void> {
    const { rows: positions } = await database.read("SELECT seq FROM audit_exports WHERE target = ?", [target]);
    let position = Number(positions[0]?.seq ?? 0);
    while (!isStopped) {
      const { rows } = await database.read(ENTRIES, [position]);
      const last = rows.at(-1);
      if (!last) return;
      await deliver(rows.map(toExported));
      position = Number(last.seq);
      // Written after the delivery: a kill in between repeats it.
      await database.write([
        {
          sql: "INSERT INTO audit_exports VALUES (?, ?) ON CONFLICT (target) DO UPDATE SET seq = excluded.seq",
          args: [target, position],
        },
      ]);
      exported.inc(rows.length);
      failuresInARow = 0;
      if (outage.worked()) log.info("AUDIT_TO takes entries again", { target });
    }
  }

  async function run(): Promise<void> {
    try {
      do {
        isDue = false;
        await sendAll();
      } while (isDue && !isStopped);
    } catch (error) {
      failures.inc();
      if (outage.failed(error)) log.warn("AUDIT_TO can't be reached; its entries wait", { target, error });
      const delay = Math.min(SECOND * 2 ** failuresInARow++, MAX_DELAY_MS);
      retry = setTimeout(push, delay);
      retry.unref();
    }
  }

  /** Sends what is new, unless a retry waits. */
  function push(): void {
    if (isStopped) return;
    isDue = true;
    clearTimeout(retry);
    running ??= run().finally(() => {
      running = undefined;
    });
  }

  return {
    push: () => {
      // While the target is down, new entries wait for the retry.
      if (failuresInARow === 0 || running) push();
    },
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(retry);
      await running;
    },
  };
}

function toExported(row: Record<string, unknown>): ExportedEntry {
  const at = Number(row.at);
  const entry = {
    seq: Number(row.seq),
    id: row.id,
    at: new Date(at).toISOString(),
    actor: { kind: row.actor_kind, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: { kind: row.target_kind, id: row.target_id, name: row.target_name },
    details: JSON.parse(String(row.details)) as unknown,
    address: row.address,
    requestId: row.request_id,
    mac: row.mac,
  };
  const line = JSON.stringify(entry);
  const shorten = () =>
    JSON.stringify({ ...entry, details: {}, shortenedFrom: Buffer.byteLength(line) }, (_, value: unknown) =>
      typeof value === "string" ? value.slice(0, SHORT_TEXT) : value,
    );
  return { line, shorten, at, action: String(row.action) };
}
