// What a process does in a cluster: it has a lease, and owns or follows one cell.
import { StartError } from "../kernel/errors.ts";
import type { Log } from "../kernel/telemetry/log.ts";
import { type CheckReport, createChecks } from "./check/check.ts";
import { type FingerprintProcess, type Program, startFingerprint } from "./check/fingerprint-process.ts";
import type { Engine } from "./engine.ts";
import type { ClusterFigures, Observed } from "./figures.ts";
import { readPlace } from "./log/copy.ts";
import { type Cell, type CellPhase, createCell, type ServedCell } from "./ownership/cell.ts";
import { type CellEntry, CLUSTER_KEY, closeCell, watchCells } from "./ownership/cell-table.ts";
import { startFollower } from "./ownership/follower.ts";
import { createLease, LEASE_TIMES, type NodeState } from "./ownership/lease.ts";
import { watchOrders } from "./ownership/orders.ts";
import type { Replicate } from "./ownership/writing.ts";
import { createFileRenewal, isEmptyFile } from "./snapshot/file-renewal.ts";
import { createSnapshotSchedule } from "./snapshot/snapshot-schedule.ts";
import { createSnapshots } from "./snapshot/snapshots.ts";

/** How often this node looks whether it has seen what it wrote. */
const SEEN_MS = 20;
/** How often a new node looks for the cluster's id. */
const ID_LOOK_MS = 100;

export interface NodeOptions {
  engine: Engine;
  /** The cell of this process. That of the first process of each machine is cell 0. */
  cell: number;
  /** How many cells there are at least, as this machine's files show. */
  leastCount: number;
  /** How the other nodes reach this one. */
  address: string;
  version: string;
  /** Of the cell's database. */
  file: string;
  /** Of the migrations that this binary knows. */
  knownMigrations: ReadonlySet<string>;
  log: Log;
  figures: ClusterFigures;
  /** Serves the cell from its file, through `replicate`. */
  open(replicate: Replicate): Promise<ServedCell>;
  /** What operators see of this node beside its place. */
  load(): NodeState["load"];
  /** Milliseconds for what is in flight when the cell is handed over. */
  graceMs: number;
  /** The node that is to own the cell, where operators have asked for none. */
  target?(): string | undefined;
  /** See `NodeState.stuck`. */
  stuck?(): readonly number[];
  /** See `NodeState.reached`. */
  reachWords?(): Pick<NodeState, "reached" | "unreached">;
  /** Whether no other machine reaches this one: then it gives its cells away. */
  isUnreachable?(): boolean;
  /** Whether the lease is to be renewed: requests reach this process through another one. */
  isAble?(): boolean;
  /** Gives the files of this machine's data folder to the others. */
  keepFiles(): Promise<unknown>;
  program: Program;
  times?: typeof LEASE_TIMES;
}

export interface ClusterNode {
  readonly phase: CellPhase;
  /** Whether nobody else may have taken this node for dead. */
  isTrusted(): boolean;
  /** For metrics. */
  observe(): Observed;
  /** The address of the node that owns a cell, as far as this one knows; undefined if none is alive. */
  ownerOf(cell: number): string | undefined;
  /** The nodes that are alive: for cell 0 one for each machine, for another cell those with a process of it. */
  alive(): NodeState[];
  /** Whether it has seen for so long who renews a lease that none of them is dead. */
  isSettled(): boolean;
  /** See `Lease.clockOf`. */
  clockOf(address: string): number | undefined;
  /** How many cells the cluster has. */
  count(): number;
  /** As the owner of a cell that is about to be closed: what it has had is in no log or snapshot any more. */
  dropHistory(): Promise<void>;
  /** Takes the last cell out of service; resolves when this node knows it. */
  closeCell(cell: number): Promise<void>;
  /** Who owns and follows each cell. */
  entries(): ReadonlyMap<number, CellEntry>;
  /** The node that operators want to own a cell. */
  wantedOwner(cell: number): string | undefined;
  /** Whether operators have put a cell where it is. */
  isKept(cell: number): boolean;
  /** Called when an owner may have changed. */
  onChange(listener: () => void): void;
  /** As the owner: compares this copy with those that follow. Throws 503 `CELL_MOVED` on any other node. */
  check(): Promise<CheckReport>;
  /** Gives the cell to another node, and the lease back. It goes on seeing who owns what, for requests that are under way. */
  handOver(): Promise<void>;
  /** After `handOver`. */
  stop(): Promise<void>;
}

/** Throws `StartError` if the file is not the cluster's. */
export async function startNode(options: NodeOptions): Promise<ClusterNode> {
  const {
    engine,
    cell,
    address,
    version,
    file,
    knownMigrations,
    log,
    figures,
    open,
    load,
    graceMs,
    times = LEASE_TIMES,
  } = options;
  const self = { address, instance: crypto.randomUUID() };
  const table = await engine.table("cells");
  const cluster = await findCluster();
  const cellLog = await engine.log(cell);
  const snapshots = createSnapshots({ blobs: await engine.blobs("snapshots"), cell, knownMigrations, log });
  let role: Cell | undefined;
  const listeners: (() => void)[] = [];
  const changed = () => {
    role?.wake();
    // Once the cell is here, the order is carried out: it does not hold the cell here for ever.
    if (role?.phase === "owning" && orders.wantedOwner(cell) === address)
      void orders.done(cell, address).catch(onError);
    for (const listener of listeners) listener();
  };
  const onError = (error: unknown) => log.debug("the cluster's engine does not answer", { error });
  const orderTable = await engine.table("orders");
  const orders = watchOrders({ table: orderTable, onChange: changed, onError });
  const checks = createChecks({
    table: orderTable,
    address,
    log,
    fingerprint: () => startFingerprint(options.program, file),
  });
  const cells = watchCells({ table, cluster, leastCount: options.leastCount, onChange: changed, onError });
  const number = isEmptyFile(file) ? 0 : (readPlace(file)?.number ?? 0);
  const isLeaving = () => orders.isDraining(address) || (options.isUnreachable?.() ?? false);
  const state = (): NodeState => ({
    ...self,
    version,
    at: Date.now(),
    isDraining: isLeaving(),
    copies: role?.isStuck ? {} : { [cell]: role?.number ?? number },
    ...(options.stuck && { stuck: options.stuck() }),
    ...options.reachWords?.(),
    load: load(),
  });
  const lease = createLease({
    table: await (cell === 0 ? engine.table("nodes") : engine.table("processes", `${cell}.`)),
    state,
    ...(options.isAble && { isAble: options.isAble }),
    onChange: changed,
    onError,
    times,
  });

  /** The id of the cluster: the one that the engine knows, else this file's, else a new one. */
  async function findCluster(): Promise<string> {
    const own = isEmptyFile(file) ? undefined : readPlace(file);
    if (own === undefined && !isEmptyFile(file)) {
      throw new StartError(
        `${file} is not part of the cluster yet. To make it the cluster's database: berth cluster join. To add this machine to a cluster that has one: give it an empty DATA_DIR.`,
      );
    }
    // An engine that has just lost all gets the id back from the nodes that know it, if there are any.
    const until = performance.now() + (own ? 0 : times.deadMs);
    for (;;) {
      const found = (await table.find(CLUSTER_KEY))?.value;
      if (found === undefined && performance.now() < until) await Bun.sleep(ID_LOOK_MS);
      else if (found === undefined) {
        const id = own?.cluster ?? crypto.randomUUID();
        if ((await table.swap(CLUSTER_KEY, id, 0)) !== undefined) return id;
      } else if (own && own.cluster !== found) {
        throw new StartError(
          `${file} belongs to another cluster than the one at CLUSTER_URL. Give this machine an empty DATA_DIR, or the other CLUSTER_URL.`,
        );
      } else return found;
    }
  }

  const created = createCell({
    cell,
    count: cells.count,
    cluster,
    self,
    engine: cellLog,
    cells,
    lease,
    snapshots,
    log,
    open,
    follow: (onBroken) =>
      startFollower({ engine: cellLog, file, cluster, knownMigrations, log, onBroken, onCheck: checks.report }),
    renew: createFileRenewal({ file, snapshots, log }),
    file,
    wanted: () => orders.wantedOwner(cell) ?? options.target?.(),
    isDraining: isLeaving,
    onOwned(ms) {
      figures.tookOver(ms);
      log.info("this node owns the cell", { cell, ms: Math.round(ms) });
      changed();
    },
    onLost(why) {
      figures.count("fenced");
      log.warn("this node gives the cell up", {
        cell,
        why: why instanceof Error ? why.message : String(why),
      });
      changed();
    },
    onLogLost() {
      figures.count("logLost");
      // What has lost entries may have lost files, too.
      void options.keepFiles().catch((error: unknown) => log.warn("files could not be shared again", { error }));
    },
    onAppend: figures.appended,
    graceMs,
    number,
  });
  role = created;
  const schedule = createSnapshotSchedule({
    snapshots,
    engine: cellLog,
    file,
    log,
    isOurs: () => created.phase === "following" || (created.phase === "owning" && !isFollowed()),
    number: () => created.number,
  });
  created.wake();

  const standby = () => cells.seen(cell)?.standby;
  const isFollowed = () =>
    lease.alive().some(({ address, copies }) => address === standby() && copies[cell] !== undefined);

  return {
    get phase() {
      return created.phase;
    },
    isTrusted: lease.isTrusted,
    observe: () => ({
      cells: cells.count(),
      owned: Number(created.phase === "owning"),
      stuck: Number(created.isStuck),
      trustedMs: lease.trustedMs(),
      // A copy that is not followed may be as old as it likes.
      behind:
        created.phase === "following"
          ? Math.max(0, ...lease.alive().map(({ copies }) => copies[cell] ?? 0)) - created.number
          : 0,
    }),
    ownerOf(which) {
      const holder = cells.seen(which)?.owner;
      return lease.alive().find((node) => node.address === holder?.address)?.address;
    },
    alive: lease.alive,
    isSettled: lease.isSettled,
    clockOf: lease.clockOf,
    count: cells.count,
    async dropHistory() {
      const { number } = await snapshots.replace(file);
      // The log stays, empty: numbers go on, so that a machine which was away can follow again if the cell is opened again.
      await cellLog.trim(number);
    },
    async closeCell(last) {
      await closeCell(table, last);
      while (cells.count() > last) await Bun.sleep(SEEN_MS);
    },
    entries: cells.all,
    wantedOwner: orders.wantedOwner,
    isKept: orders.isKept,
    onChange: (listener) => void listeners.push(listener),
    check() {
      const followers = lease.alive().filter((one) => one.address !== address && one.address === standby());
      return checks.run(
        followers.filter(({ copies }) => copies[cell] !== undefined).map((one) => one.address),
        async (id) => {
          let taken: FingerprintProcess | undefined;
          await created.check(id, () => {
            taken = startFingerprint(options.program, file);
            return taken.pinned;
          });
          if (!taken) throw new Error("The check did not begin.");
          return taken.result;
        },
      );
    },
    async handOver() {
      schedule.stop();
      // A machine that is stopped is not waited for.
      await orders.done(cell, address).catch(onError);
      await created.stop();
      await lease.release();
    },
    async stop() {
      await lease.stop();
      cells.stop();
      orders.stop();
    },
  };
}
