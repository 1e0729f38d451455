// Compares the owner's copy with those of the nodes that follow, all at the same entry of the log.
import { AppError } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import type { Table } from "../engine.ts";
import { keyOf } from "../ownership/lease.ts";
import { compareFingerprints, type Fingerprint } from "./fingerprint.ts";
import type { FingerprintProcess } from "./fingerprint-process.ts";

export interface CheckReport {
  owner: string;
  /** The entry of the log at which they were compared. */
  number: number;
  rows: number;
  copies: { node: string; differences: string[] }[];
}

export interface CheckDeps {
  table: Table;
  address: string;
  log: Pick<Log, "warn">;
  fingerprint(): FingerprintProcess;
}

/** How long, in ms, the copies are read at most. */
const TIMEOUT_MS = 10 * 60_000;
const LOOK_MS = 300;

const keyFor = (id: string, node: string) => `check.${id}.${keyOf(node)}`;

export interface Checks {
  /** On a node that follows, at the entry of a check: resolves when its contents are fixed. */
  report(id: string): Promise<void>;
  /** On the owner: what it was compared with, and how. `begin` appends the entry and fixes the owner's contents. */
  run(nodes: readonly string[], begin: (id: string) => Promise<Fingerprint>): Promise<CheckReport>;
}

export function createChecks({ table, address, log, fingerprint }: CheckDeps): Checks {
  async function waitFor(id: string, node: string): Promise<Fingerprint | string> {
    const deadline = performance.now() + TIMEOUT_MS;
    while (performance.now() < deadline) {
      const found = await table.find(keyFor(id, node)).catch(() => undefined);
      if (found?.value !== undefined) {
        await table.remove(keyFor(id, node));
        return JSON.parse(found.value) as Fingerprint | string;
      }
      await Bun.sleep(LOOK_MS);
    }
    return "it did not report";
  }

  return {
    async report(id) {
      const { pinned, result } = fingerprint();
      const put = (found: unknown) => table.put(keyFor(id, address), JSON.stringify(found));
      void result
        .then(put, (error: unknown) => put(`it could not be read (${String(error)})`))
        .catch((error: unknown) => {
          log.warn("the result of a check could not be reported", { error });
        });
      await pinned;
    },
    async run(nodes, begin) {
      if (nodes.length === 0)
        throw new AppError(409, "NO_STANDBY", "No node follows, so there is nothing to compare with.");
      const id = crypto.randomUUID();
      const own = await begin(id);
      const copies = await Promise.all(
        nodes.map(async (node) => {
          const found = await waitFor(id, node);
          return { node, differences: typeof found === "string" ? [found] : compareFingerprints(own, found) };
        }),
      );
      const rows = Object.values(own.tables).reduce((sum, one) => sum + one.rows, 0);
      return { owner: address, number: own.number, rows, copies };
    },
  };
}
