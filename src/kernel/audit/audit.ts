// The audit log: entries are written in the batch of the change they record, chained by hash, and kept for two years.
import type { Marks } from "../cells/marks.ts";
import type { Database, Statement } from "../database/database.ts";
import { statement } from "../database/database.ts";
import type { KeyRotation } from "../security/key-rotation.ts";
import type { Vault } from "../security/vault.ts";
import type { Log } from "../telemetry/log.ts";
import { DAY, SECOND } from "../util/time.ts";
import type { Actor } from "./actor.ts";
import type { Chain } from "./chain.ts";
import { currentActor, runAs } from "./current-actor.ts";
import { auditLog, SEAL_CONTEXT } from "./schema.ts";
import type { ChainReport, Head } from "./verify.ts";

/** A change that matters, of anything. */
export interface AuditedChange {
  /** Such as `agent.delete`: the kind of the target, and what was done. */
  action: string;
  target: { kind: string; id: string; name: string };
  /** Changed fields as `{ field: { from, to } }`, or details of the action; never a secret. */
  details?: Readonly<Record<string, unknown>>;
}

/** A change of an account. */
export interface AuditedAccountChange {
  action: string;
  user: { id: string; email: string };
  details: Readonly<Record<string, unknown>>;
}

export interface Audit {
  /** The statement that records a change by who makes the running request, for the batch of the change. */
  record(change: AuditedChange): Statement;
  /** The same for a change by this actor. */
  statementFor(actor: Actor, change: AuditedChange): Statement;
  /** The recorder for changes of accounts by this actor. */
  recorderFor(actor: Actor): (change: AuditedAccountChange) => Statement;
  /** Runs work whose changes are this actor's. */
  as<T>(actor: Actor, work: () => T): T;
  /**
   * Seals what a kill has left unsealed, with an entry that says so, and from now on every entry right after its commit. Where the
   * backend runs.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Seals what this process has written, also if it never was the service. Before the database is closed. */
  close(): Promise<void>;
  /** Seals all entries that wait for it. Only one process may. */
  seal(): Promise<void>;
  /** The listener is called after entries were sealed. */
  onSealed(listener: () => void): void;
  /** Checks the whole chain; with a head that was noted earlier, also that nothing was cut off or made anew since. */
  verify(noted?: Head): Promise<ChainReport>;
  /** Deletes entries older than two years, up to `limit`; a trigger of the table refuses to delete younger ones. */
  deleteBatch(before: number, limit: number): Promise<number>;
}

export const AUDIT_KEPT_MS = 731 * DAY;

interface Deps {
  database: Database;
  vault: Vault;
  keyRotation: KeyRotation;
  log: Log;
  marks: Marks;
  /** Whether this process alone writes the database. Otherwise entries of others wait for the one that seals them. */
  isAlone: boolean;
}

export function createAudit({ database, vault, keyRotation, log, marks, isAlone }: Deps): Audit {
  const { drizzle } = database;
  const listeners: (() => void)[] = [];
  /** Entries of this process from before the start, or of a command. What else is unsealed then may be somebody else's. */
  const own = new Set<string>();
  let isStarted = false;
  let wasStarted = false;
  let isScheduled = false;
  let retry: Timer | undefined;
  keyRotation.registerColumn({
    label: "audit chain",
    table: "audit_chain",
    keyColumns: ["id"],
    sealed: "chain_key",
    sealContext: () => SEAL_CONTEXT,
  });

  /** Loaded with the first entry. */
  let chain: Promise<Chain> | undefined;
  const loadChain = () => {
    chain ??= import("./chain.ts").then(({ createChain }) => createChain({ database, vault, notify }));
    return chain;
  };
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const seal = async () => (await loadChain()).seal();

  function sealSoon(): void {
    if (!isStarted || isScheduled) return;
    isScheduled = true;
    // After the commits of this turn of the event loop, so that they are sealed together.
    setImmediate(() => {
      isScheduled = false;
      if (isStarted) seal().catch(tryAgain);
    });
  }

  function tryAgain(error: unknown): void {
    log.warn("entries of the audit log could not be sealed; it is tried again", { error });
    clearTimeout(retry);
    retry = setTimeout(sealSoon, 10 * SECOND);
    retry.unref();
  }

  function statementFor(actor: Actor, { action, target, details = {} }: AuditedChange): Statement {
    const row = {
      id: marks.newId(),
      at: Date.now(),
      actorKind: actor.kind,
      actorId: actor.id,
      actorName: actor.name,
      action,
      targetKind: target.kind,
      targetId: target.id,
      targetName: target.name,
      details: JSON.stringify(details),
      address: actor.address,
      requestId: actor.requestId,
    };
    if (isAlone && !isStarted) own.add(row.id);
    return { ...statement(drizzle.insert(auditLog).values(row)), after: sealSoon };
  }

  /** Notes which entries this process did not write, before they are sealed. */
  async function noteLate(): Promise<void> {
    const { findUnsealed, SEALED_LATE } = await import("./unsealed.ts");
    const found = await findUnsealed(database, own);
    if (!found) return;
    const { entries, first, last, since } = found;
    const target = { kind: "audit", id: first === last ? `${first}` : `${first}-${last}`, name: "" };
    const details = { entries, first, last, since: new Date(since).toISOString() };
    await database.write([statementFor(currentActor(), { action: SEALED_LATE, target, details })]);
  }

  const isAnyUnsealed = async () => {
    const { rows } = await database.read(
      "SELECT 1 FROM audit_seals WHERE seq > coalesce((SELECT head_seq FROM audit_chain), 0) LIMIT 1",
    );
    return rows.length > 0;
  };

  return {
    record: (change) => statementFor(currentActor(), change),
    statementFor,
    recorderFor:
      (actor) =>
      ({ action, user, details }) =>
        statementFor(actor, { action, target: { kind: "user", id: user.id, name: user.email }, details }),
    as: runAs,
    seal,
    onSealed: (listener) => void listeners.push(listener),
    async start() {
      const isAny = await isAnyUnsealed();
      if (isAny && isAlone) await noteLate();
      isStarted = true;
      wasStarted = true;
      if (isAny || own.size > 0) sealSoon();
      own.clear();
    },
    async stop() {
      isStarted = false;
      clearTimeout(retry);
      await (await chain)?.idle();
    },
    async close() {
      if (!isAlone || !(wasStarted || own.size > 0)) return;
      try {
        if (!(await isAnyUnsealed())) return;
        if (!wasStarted) await noteLate();
        await seal();
      } catch (error) {
        log.warn("entries of the audit log could not be sealed; the next start does, and notes it", { error });
      }
    },
    async verify(noted) {
      const [{ openKey }, { verifyChain }, { withUnsealed }] = await Promise.all([
        loadChain(),
        import("./verify.ts"),
        import("./unsealed.ts"),
      ]);
      const report = await verifyChain(database, await openKey(), noted);
      return withUnsealed(database, report, { own, isSealedByAnother: isStarted || !isAlone });
    },
    deleteBatch: async (before, limit) => (await loadChain()).prune(before, AUDIT_KEPT_MS, limit),
  };
}
