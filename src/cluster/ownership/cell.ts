// What this node does with one cell: follow its log, own it, or neither. It decides anew whenever something has changed.
import type { Log } from "../../kernel/telemetry/log.ts";
import { cellMoved } from "../away.ts";
import type { LogEngine } from "../engine.ts";
import { CopyBroken } from "../log/copy.ts";
import type { Snapshots } from "../snapshot/snapshots.ts";
import { type CellEntry, type CellTable, type Holder, isHolder } from "./cell-table.ts";
import { canTake, isAboutDisk, isAboutFile, isOfCluster } from "./failures.ts";
import type { Follower } from "./follower.ts";
import { createFollowing } from "./following.ts";
import type { Lease, NodeState } from "./lease.ts";
import { createLostEntries, type Loss } from "./lost-entries.ts";
import { createOwnerDuty, type OwnedCell } from "./owner-duty.ts";
import { isHeir, standbyOf } from "./succession.ts";
import { createWriting, type Replicate, type Writing } from "./writing.ts";

/** A cell that this node serves. */
export interface ServedCell {
  /** Ends it; with grace, what is in flight is written first. */
  close(graceMs: number): Promise<void>;
}

export interface CellDeps {
  cell: number;
  /** How many cells the cluster has. */
  count(): number;
  /** The id of the cluster. */
  cluster: string;
  self: Holder;
  engine: LogEngine;
  cells: CellTable;
  lease: Pick<Lease, "isTrusted" | "isSettled" | "alive" | "seeAll">;
  snapshots: Pick<Snapshots, "take" | "list" | "replace">;
  log: Log;
  /** Serves the cell from its file, through `replicate`. */
  open(replicate: Replicate): Promise<ServedCell>;
  /** Begins to apply the log to the file. */
  follow(onBroken: (error: unknown) => void): Promise<Follower>;
  /** Makes sure that there is a file to begin with; whether it is another one now. See `createFileRenewal`. */
  renew(broken: unknown): Promise<boolean>;
  file: string;
  /** The node that is to own the cell: because operators want it, or so that nodes own about as many cells each. */
  wanted(): string | undefined;
  /** Whether operators want this node to give its cells up. */
  isDraining(): boolean;
  onOwned(ms: number): void;
  onLost(why: unknown): void;
  onLogLost(): void;
  onAppend?(ms: number): void;
  /** Milliseconds for what is in flight when the cell is handed over. */
  graceMs: number;
  /** The last entry that the file has applied when this begins. */
  number: number;
  /** Milliseconds for which an owner waits to hear whether it still is. */
  findMs?: number;
  /** Milliseconds. */
  lookMs?: number;
  /** Milliseconds after which the log is believed to have lost entries. */
  sureMs?: number;
}

export type CellPhase = "idle" | "following" | "taking" | "owning" | "leaving";

export interface Cell {
  readonly phase: CellPhase;
  /** The last entry that this node's file has applied. */
  readonly number: number;
  /** Whether this node should follow the cell and can't: it is no standby. */
  readonly isStuck: boolean;
  /** As the owner: see `Writing.check`. Throws 503 `CELL_MOVED` on any other node. */
  check(id: string, pin: () => Promise<void>): Promise<void>;
  /** Looks at once whether something is to be done. */
  wake(): void;
  /** Hands the cell over if it is owned and somebody follows it, and does nothing more with it. */
  stop(): Promise<void>;
}

interface Owned extends OwnedCell {
  served: ServedCell;
  writing: Writing;
}

/** Milliseconds after which a step that failed is tried again. */
const RETRY_MS = 500;
/** It decides anew at least this often, so that it hangs on no message that the engine may have lost. */
const LOOK_MS = 5_000;
/** What is left of a lease that is dead after four seconds and trusted for three. */
const FIND_MS = 900;
/** Milliseconds for the last writes of a cell that ends, after its grace. */
const LAST_WRITES_MS = 2_000;
/** An owner whose attempts to open the cell fail this often gives it to the node that follows. */
const FAILED_OPENS = 4;

export function createCell(deps: CellDeps): Cell {
  const { cell, count, cluster, self, engine, cells, lease, log, open, follow, graceMs } = deps;
  const { findMs = FIND_MS, lookMs = LOOK_MS } = deps;
  let phase: CellPhase = "idle";
  let owned: Owned | undefined;
  /** Of the cell that is being opened. */
  let opening: Writing | undefined;
  let { number } = deps;
  /** Why the file can't go on as it is. */
  let broken: unknown;
  /** Attempts to open the cell in a row that failed. */
  let failedOpens = 0;
  /** Whether what the owner goes on without is known to be this copy. */
  let isForsaken = false;
  let isStopped = false;
  let isWoken = false;
  let running: Promise<void> | undefined;
  let retry: Timer | undefined;
  const { giveTo, ...lostEntries } = createLostEntries(deps);
  const dutyOf = createOwnerDuty({ ...deps, lostEntries, standbyAmong, findMs });
  const following = createFollowing({
    cell,
    log,
    renew,
    follow,
    onFailed(error) {
      if (isAboutFile(error)) broken = error;
    },
    onEnded(applied) {
      number = Math.max(number, applied);
    },
    wake,
  });

  function wake(): void {
    isWoken = true;
    // What has begun while the cell is opened, such as polls for messages, has to end before another node begins it.
    if (opening && !lease.isTrusted()) opening.end();
    // It begins in a later turn: what it calls may wake it again.
    running ??= Promise.resolve().then(run);
  }

  async function run(): Promise<void> {
    clearTimeout(retry);
    retry = undefined;
    try {
      while (isWoken && !isStopped) {
        isWoken = false;
        await decide();
      }
    } catch (error) {
      log.warn("a cell could not do what it should; trying again", { cell, phase, error });
      retry = setTimeout(wake, RETRY_MS);
    }
    running = undefined;
    if (isStopped) return;
    if (isWoken) wake();
    else retry ??= setTimeout(wake, lookMs);
  }

  async function decide(): Promise<void> {
    if (owned) return decideAsOwner(owned);
    // Without a trusted lease the others take this node for dead, or will.
    if (!lease.isTrusted()) return;
    const entry = await cells.find(cell);
    const alive = lease.alive();
    if (entry && isHolder(entry.owner, self)) return take();
    const isOwned = entry !== undefined && alive.some((node) => isHolder(entry.owner, node));
    const isOurs = !isOwned && isHeir(entry, lease.isSettled(), succession(alive));
    if (isOurs && (await claim(entry, alive))) {
      log.info("this node claims the cell", { cell, former: entry?.owner.address, standby: entry?.standby });
      return take();
    }
    await heed(isOwned ? entry.without?.[self.address] : undefined);
    if (isOwned && entry.standby === self.address) await startFollowing();
    else await stopFollowing();
  }

  /** @param lost the last entry of this copy that the owner goes on without */
  async function heed(lost: number | undefined): Promise<void> {
    if (lost === undefined || isForsaken) {
      isForsaken = lost !== undefined;
      return;
    }
    if (Math.max(number, following.number) < lost) return;
    isForsaken = true;
    await stopFollowing();
    broken = new CopyBroken(`The owner goes on without the entries up to ${lost} that this copy has.`);
    number = 0;
  }

  function succession(alive: readonly NodeState[]) {
    return { cell, count: count(), self: self.address, alive };
  }
  function standbyAmong(alive: readonly NodeState[], former: string | null): string | null {
    return standbyOf(former, deps.wanted(), succession(alive));
  }

  const claim = (former: CellEntry | undefined, alive: readonly NodeState[]) =>
    cells.swap(cell, {
      owner: self,
      standby: standbyAmong(alive, former?.standby ?? null),
      epoch: (former?.epoch ?? 0) + 1,
      ...(former?.without && { without: former.without }),
    });

  async function take(): Promise<void> {
    phase = "taking";
    const began = performance.now();
    await stopFollowing();
    const writing = createWriting({
      engine,
      address: self.address,
      cluster,
      seeAll: lease.seeAll,
      requireMost: lostEntries.requireMost,
      beforeRestart: async (error) => {
        log.error(
          "the cluster's engine has lost entries of a log; this node's file has them, and begins the log anew",
          {
            cell,
            error,
          },
        );
        deps.onLogLost();
        await lostEntries.keepInSnapshot(writing.number);
        await cells.nameCluster();
        const entry = await cells.find(cell);
        if (!entry || !isHolder(entry.owner, self)) throw cellMoved();
      },
      onLost: wake,
      ...(deps.onAppend && { onAppend: deps.onAppend }),
    });
    opening = writing;
    try {
      await renew();
      const served = await open(writing.replicate);
      owned = { served, writing, began: writing.number, lookForLoss: lostEntries.watch() };
      phase = "owning";
      failedOpens = 0;
      deps.onOwned(performance.now() - began);
      // Something may have changed while it was opened.
      isWoken = true;
    } catch (error) {
      phase = "idle";
      if (isAboutFile(error)) broken = error;
      if (isAboutDisk(error) || (!isOfCluster(error) && ++failedOpens % FAILED_OPENS === 0)) await passOn(error);
      throw error;
    } finally {
      opening = undefined;
      number = Math.max(number, writing.number);
    }
  }

  /** What fails here, such as an older program with a newer database, may work on another node. Without one, this node tries on. */
  async function passOn(error: unknown): Promise<void> {
    const entry = await cells.find(cell);
    if (!entry || !isHolder(entry.owner, self)) return;
    const alive = lease.alive().filter((node) => node.address !== self.address && canTake(node, entry));
    const heir = alive.find(({ address }) => address === entry.standby) ?? alive[0];
    if (!heir) return;
    log.error("this node can't open or write the cell, so another one gets it", { cell, node: heir.address, error });
    await giveTo(heir.address, self.address, { address: self.address, at: Date.now() });
  }

  /** Makes sure that there is a file that can go on. */
  async function renew(): Promise<void> {
    if (await deps.renew(broken)) number = 0;
    broken = undefined;
  }

  async function decideAsOwner(own: Owned): Promise<void> {
    number = own.writing.number;
    const duty = await dutyOf(own);
    if (duty.kind === "giveUp") return giveUp(own.writing, duty.why);
    if (duty.kind === "yieldTo") return yieldTo(duty.address, duty.loss);
    if (duty.kind === "handOver") return handOver(duty.address);
    if (duty.isDue) retry ??= setTimeout(wake, RETRY_MS);
  }

  /** What was written here since is less than what the other node has: this file is set aside when it follows. */
  async function yieldTo(address: string, loss: Loss): Promise<void> {
    log.error("the cluster's engine has lost entries which another node has: that node gets the cell", {
      ...{ cell, node: address, ...loss },
    });
    deps.onLogLost();
    await leave(0);
    await giveTo(address, self.address);
  }

  async function giveUp(writing: Writing, why: string): Promise<void> {
    deps.onLost(writing.lost ?? new Error(why));
    await leave(0, writing.lost);
    if (isAboutDisk(writing.lost)) await passOn(writing.lost);
  }

  async function leave(grace: number, why?: unknown): Promise<void> {
    phase = "leaving";
    const leaving = owned;
    owned = undefined;
    if (why instanceof CopyBroken) broken = why;
    if (grace === 0) leaving?.writing.end();
    // With an engine that is away, what waits to be written would keep the process for ever.
    const timer = setTimeout(() => leaving?.writing.end(), grace + LAST_WRITES_MS);
    await leaving?.served.close(grace).catch((error: unknown) => {
      // Of a cell that is lost, nothing can be written any more.
      const isExpected = grace === 0;
      log[isExpected ? "debug" : "error"]("a cell could not be closed as it should", { cell, error });
    });
    clearTimeout(timer);
    leaving?.writing.end();
    number = Math.max(number, leaving?.writing.number ?? 0);
    phase = "idle";
    isWoken = true;
  }

  async function handOver(heir: string): Promise<void> {
    await leave(graceMs);
    await giveTo(heir, isStopped ? null : self.address);
  }

  async function startFollowing(): Promise<void> {
    await following.start();
    phase = following.isActive ? "following" : "idle";
  }

  async function stopFollowing(): Promise<void> {
    await following.stop();
    if (phase === "following") phase = "idle";
  }

  return {
    get phase() {
      return phase;
    },
    get number() {
      return Math.max(number, following.number, owned?.writing.number ?? 0);
    },
    get isStuck() {
      return following.isStuck;
    },
    wake,
    async check(id, pin) {
      if (!owned) throw cellMoved();
      await owned.writing.check(id, pin);
    },
    async stop() {
      isStopped = true;
      clearTimeout(retry);
      opening?.end();
      await running;
      await stopFollowing();
      if (!owned) return;
      const entry = cells.seen(cell);
      const heir = lease.alive().find(({ address }) => address === entry?.standby && address !== self.address);
      if (heir) await handOver(heir.address);
      else await leave(graceMs);
    },
  };
}
