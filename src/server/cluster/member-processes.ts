// Runs a process for each cell that this machine owns, follows or is to own, and ends those that it has no use for.

import type { CallHandlers, Calls } from "../../cluster/cells/calls.ts";
import { type CellProcess, startCellProcess } from "../../cluster/cells/cell-process.ts";
import type { ClusterNode } from "../../cluster/node.ts";
import { type Move, nextMove } from "../../cluster/ownership/balance.ts";
import { FAILED_FOR_MS } from "../../cluster/ownership/failures.ts";
import { placesOf, spareOf } from "../../cluster/ownership/succession.ts";
import type { Log } from "../../kernel/telemetry/log.ts";
import { MINUTE } from "../../kernel/util/time.ts";
import type { MemberOrder, MemberReport } from "./cluster-member.ts";

export interface MemberProcessesDeps {
  node: ClusterNode;
  /** Of this node. */
  address: string;
  program(cell: number): { command: string[]; env: Readonly<Record<string, string | undefined>> };
  handlers: CallHandlers;
  /** Whether no other machine reaches this one. */
  isUnreachable(): boolean;
  graceMs: number;
  log: Log;
  /** A cell has begun or ended to be served here. */
  onChange(): void;
}

export interface MemberProcesses {
  /** Where a cell is served that this machine owns. */
  find(cell: number): { address: string; call: Calls["call"] } | undefined;
  pidOf(cell: number): number | undefined;
  /** The cells that they could not follow a moment ago. */
  stuck(): number[];
  /** Over all of them: how many own their cell or can't follow it, and the entries that the one has still to apply that has most. */
  observe(): { owned: number; stuck: number; behind: number };
  /** Hands their cells over, and ends them. */
  stop(): Promise<void>;
}

interface Member {
  process: CellProcess;
  report: MemberReport;
  /** Monotonic ms. */
  reportedAt: number;
  isAsked: boolean;
  /** Monotonic ms: when the machine has had a use for it last. */
  usedAt: number;
}

/** Each process hears so often that this one is well. */
const ORDER_MS = 500;
/** A cell that moves to and fro keeps its process. */
const UNUSED_MS = MINUTE;
/** A start takes a third of a second of a processor, which the cells that are served need, too. The others follow. */
const STARTS_AT_ONCE = 4;
/** A process that has said nothing for so long may be stopped, and its cell elsewhere: it gets no requests. */
const SILENCE_MS = 2_000;
const NONE: MemberReport = { owns: false, behind: 0, isStuck: false };

export function startMemberProcesses(deps: MemberProcessesDeps): MemberProcesses {
  const { node, address, program, handlers, isUnreachable, graceMs, log, onChange } = deps;
  const members = new Map<number, Member>();
  /** Monotonic ms, by cell: when this machine could not follow it last. Its process may have ended since. */
  const stuckAt = new Map<number, number>();
  let isStopping = false;

  /** The node that is to own a cell, because operators want it or to even out how many each owns. */
  const targetOf = (cell: number, move: Move | undefined) =>
    node.wantedOwner(cell) ?? (move?.cell === cell ? move.to : undefined);

  const isSilent = ({ reportedAt }: Member) => performance.now() - reportedAt > SILENCE_MS;

  function take(cell: number, member: Member, report: MemberReport): void {
    if (report.isStuck) stuckAt.set(cell, performance.now());
    if (report.owns) stuckAt.delete(cell);
    const hasChanged = member.report.owns !== report.owns || isSilent(member);
    member.report = report;
    member.reportedAt = performance.now();
    if (hasChanged) onChange();
  }

  function start(cell: number): void {
    const process = startCellProcess({
      cell,
      ...program(cell),
      handlers: { ...handlers, report: (report: MemberReport) => take(cell, member, report) },
      log,
      onChange() {
        if (process.address === undefined) member.report = NONE;
        onChange();
      },
    });
    const member: Member = { process, report: NONE, reportedAt: 0, isAsked: false, usedAt: performance.now() };
    members.set(cell, member);
    process.started.catch((error: unknown) => {
      log.error("a cell can't start on this machine; it is tried again", { cell, error });
      if (members.get(cell) === member) members.delete(cell);
    });
    log.info("a process of a cell starts", { cell });
  }

  async function end(cell: number, { process }: Member): Promise<void> {
    members.delete(cell);
    log.info("this machine has no use for a cell any more", { cell });
    await process.stop(graceMs);
  }

  async function order(cell: number, member: Member, move: Move | undefined): Promise<void> {
    if (member.process.address === undefined || member.isAsked) return;
    const sent: MemberOrder = { target: targetOf(cell, move) ?? null, isUnreachable: isUnreachable() };
    member.isAsked = true;
    try {
      take(cell, member, await member.process.call<MemberReport>("order", sent));
    } finally {
      member.isAsked = false;
    }
  }

  const starting = () => [...members.values()].filter(({ process }) => process.address === undefined).length;

  /** Returns the move that is due. It and the places are found once for all cells, of which a large cluster has hundreds. */
  function look(): Move | undefined {
    const [count, entries, alive] = [node.count(), node.entries(), node.alive()];
    // A machine that is dead may still count as alive before.
    const move = node.isSettled() ? nextMove(entries, alive, node.isKept) : undefined;
    if (isStopping) return move;
    const places = placesOf(count, alive);
    for (let cell = 1; cell < count; cell++) {
      const member = members.get(cell);
      const [entry, place] = [entries.get(cell), places[cell]];
      const spare = spareOf(cell, entry?.owner.address, alive);
      const uses = [entry?.owner.address, entry?.standby, place?.owner, place?.standby, targetOf(cell, move), spare];
      if (uses.includes(address)) {
        if (member) member.usedAt = performance.now();
        else if (starting() < STARTS_AT_ONCE) start(cell);
      } else if (member && performance.now() - member.usedAt > UNUSED_MS) void end(cell, member);
    }
    // Removed cells.
    for (const [cell, member] of members) if (cell >= count) void end(cell, member);
    return move;
  }

  function lookAndOrder(): void {
    const move = look();
    // A process that has ended is started again; what it does then, it reports.
    for (const [cell, member] of members) void order(cell, member, move).catch(() => undefined);
  }

  /** While it is remembered, the cell does not come back only to leave again. */
  function stuck(): number[] {
    for (const [cell, at] of stuckAt) if (performance.now() - at >= FAILED_FOR_MS) stuckAt.delete(cell);
    return [...stuckAt.keys()];
  }

  const timer = setInterval(lookAndOrder, ORDER_MS);
  timer.unref();
  node.onChange(() => void look());
  look();
  return {
    find(cell) {
      const member = members.get(cell);
      const at = member?.process.address;
      return member?.report.owns && at !== undefined && !isSilent(member)
        ? { address: at, call: member.process.call }
        : undefined;
    },
    pidOf: (cell) => members.get(cell)?.process.pid,
    stuck,
    observe() {
      const reports = [...members.values()].map(({ report }) => report);
      return {
        owned: reports.filter(({ owns }) => owns).length,
        stuck: reports.filter(({ isStuck }) => isStuck).length,
        behind: Math.max(0, ...reports.map(({ behind }) => behind)),
      };
    },
    async stop() {
      isStopping = true;
      await Promise.all([...members.values()].map(({ process }) => process.stop(graceMs)));
      clearInterval(timer);
    },
  };
}
