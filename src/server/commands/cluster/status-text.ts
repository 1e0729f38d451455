// Shows the state of a cluster as text.
import type { ClusterStatus } from "../../../cluster/status.ts";

/** A node as operators name it. */
export const shortName = (address: string) => address.replace(/^https?:\/\//, "");

export function formatStatus({ engine, nodes, cells }: ClusterStatus): string {
  if (nodes.length === 0) {
    const next = cells.length > 0 ? " on the machine whose database it has" : "";
    return `engine   ${engine}\n\nNo machine has started yet. Start the service${next}, and look again.\n`;
  }
  const nodeRows = nodes.map(({ address, version, owns, follows, agents, turnsPerSecond, lease, seenAt }) => [
    shortName(address),
    version,
    String(owns.length),
    String(follows.length),
    agents.toLocaleString("en"),
    turnsPerSecond.toFixed(1),
    lease === "lost" ? `lost, seen ${ago(seenAt)} ago` : lease,
  ]);
  const cellRows = cells.map(({ cell, owner, standby, log, behind, snapshotAt, kept, state }) => [
    String(cell),
    shortName(owner),
    standby === null ? "-" : shortName(standby),
    log.toLocaleString("en"),
    behind === null ? "-" : behind.toLocaleString("en"),
    snapshotAt === null ? "none yet" : `${ago(snapshotAt)} ago`,
    kept ? `${state}, kept` : state,
  ]);
  return `engine   ${engine}\n\n${[
    formatTable(["node", "version", "cells", "standby", "agents", "turns/s", "lease"], nodeRows),
    formatTable(["cell", "owner", "standby", "log", "behind", "snapshot", "state"], cellRows),
    ...nodes.filter(({ lease }) => lease === "unreachable").map(({ address }) => outOfReach(address)),
  ].join("\n\n")}\n`;
}

const outOfReach = (address: string) =>
  `No other machine reaches ${shortName(address)}, so it gives its cells away. Check its NODE_ADDRESS, its BACKEND_HOST and the firewall.`;

function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: string[]) =>
    cells
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return [head, ...rows].map(line).join("\n");
}

function ago(at: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - at) / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
