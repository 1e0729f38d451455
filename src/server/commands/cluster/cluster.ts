// Runs `berth cluster …`: shows a cluster, and tells its nodes what operators want.

import { writeSync } from "node:fs";
import type { CheckReport } from "../../../cluster/check/check.ts";
import { type Engine, EngineUnavailable } from "../../../cluster/engine.ts";
import { placeNewCells, raiseCount, readCount } from "../../../cluster/ownership/cell-table.ts";
import { keyOf } from "../../../cluster/ownership/lease.ts";
import { drainKey, keepKey, moveKey } from "../../../cluster/ownership/orders.ts";
import { placesOf } from "../../../cluster/ownership/succession.ts";
import { clusterSettings } from "../../../cluster/settings.ts";
import { type ClusterStatus, readStatus } from "../../../cluster/status.ts";
import { type Config, environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { StartError } from "../../../kernel/errors.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { loadAllSettings } from "../../settings.ts";
import { formatStatus, shortName } from "./status-text.ts";

interface Subcommand {
  usage: string;
  summary: string;
  arguments: readonly [least: number, most: number];
  flags?: readonly string[];
  /** Returns what is printed. */
  run(deps: Deps, args: string[], flags: Flags): Promise<string>;
}

interface Deps {
  config: Config;
  engine: Engine;
}

type Flags = Readonly<Record<string, unknown>>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  status: {
    usage: "status [--json]",
    summary: "show nodes, cells, and what is wrong with them",
    arguments: [0, 0],
    flags: ["json"],
    async run({ engine }, _, { json }) {
      const status = await readStatus(engine);
      return json ? `${JSON.stringify(status, null, 2)}\n` : formatStatus(status);
    },
  },
  join: {
    usage: "join [--replace]",
    summary: "make this machine's database, with all its cells, that of a cluster without one; stop the service first",
    arguments: [0, 0],
    flags: ["replace"],
    async run({ config, engine }, _, { replace }) {
      const { joinCluster } = await import("../../cluster/join.ts");
      const { cells, snapshotBytes, files } = await joinCluster(config, engine, replace === true);
      const what = cells === 1 ? "database" : `${cells} cells`;
      return `The cluster has this machine's ${what} now: ${sizeOf(snapshotBytes)} compressed${files > 0 ? `, and ${count(files, "file")}` : ""}. Start the service here, then the other machines with an empty DATA_DIR.\n`;
    },
  },
  leave: {
    usage: "leave",
    summary: "make this machine's copy a database of its own, to serve it without CLUSTER_URL; stop the service first",
    arguments: [0, 0],
    // It needs no engine, which may be gone for good.
    run: async () => "",
  },
  cells: {
    usage: "cells [N]",
    summary: "show how many cells there are, or make it N: new accounts go to the new ones",
    arguments: [0, 1],
    async run({ engine }, [wanted]) {
      const have = await countCells(engine);
      if (wanted === undefined) return `The cluster has ${have === 1 ? "one cell" : `${have} cells`}.\n`;
      const next = /^[1-9]\d*$/.test(wanted) ? Number(wanted) : 0;
      if (next < 1) throw new StartError(`Give the number of cells as digits, such as 12; ${wanted} is none.`);
      if (next < have)
        throw new StartError(
          `The cluster has ${have} cells already. To have fewer, run: ${programName()} cells remove ${have - 1}`,
        );
      // Each has a process on two machines, and to take it away again takes a while.
      const { nodes } = await readStatus(engine);
      const machines = nodes.filter(({ lease }) => lease === "ok").length;
      const most = Math.min(MAX_CELLS, machines * CELLS_OF_MACHINE);
      if (next > most)
        throw new StartError(
          `With ${machines === 1 ? "one machine" : `${machines} machines`}, a cluster has at most ${most} cells: ${CELLS_OF_MACHINE} for each machine. Each takes 30 MiB of memory on two of them. Start more machines first.`,
        );
      const table = await engine.table("cells");
      await raiseCount(table, next);
      const alive = nodes.filter(({ lease }) => lease !== "lost");
      await placeNewCells(
        table,
        placesOf(
          next,
          alive.map(({ address, lease }) => ({ address, isDraining: lease !== "ok" })),
        ),
        have,
      );
      const { cells } = await until(
        engine,
        ({ cells }) => cells.length === next && cells.every(({ state }) => state === "ok" || state === "no standby"),
      );
      if (cells.length < next) return `The new cells are still on their way. See: ${programName()} cluster status\n`;
      return `The cluster has ${count(next, "cell")}. Accounts stay where they are; new ones go to the cells with the fewest.\n`;
    },
  },
  check: {
    usage: "check [CELL] [--json]",
    summary: "compare the owner's copy with its standby's, row by row, at the same place of the log",
    arguments: [0, 1],
    flags: ["json"],
    async run({ config, engine }, [cell = "0"], { json }) {
      await requireCell(engine, cell);
      const { runCommand } = await import("../run-command.ts");
      const report = (await runCommand(config, "cluster.check", { cell })) as CheckReport;
      if (json) return `${JSON.stringify(report, null, 2)}\n`;
      const { owner, number, rows, copies } = report;
      const differing = copies.filter(({ differences }) => differences.length > 0);
      if (differing.length > 0) {
        const lines = differing.flatMap(({ node, differences }) =>
          differences.map((one) => `${shortName(node)}: ${one}`),
        );
        throw new StartError(
          `The copies differ at entry ${number}. Stop the node that is wrong, empty its DATA_DIR and start it: it begins anew with a snapshot of the other.\n${lines.join("\n")}`,
        );
      }
      const nodes = copies.map(({ node }) => shortName(node)).join(", ");
      return `${nodes} has the same ${rows.toLocaleString("en")} rows as ${shortName(owner)}, at entry ${number.toLocaleString("en")}.\n`;
    },
  },
  drain: {
    usage: "drain NODE",
    summary: "move what a node owns to others, and give it nothing more; undrain ends it",
    arguments: [1, 1],
    async run({ engine }, [node = ""]) {
      const address = await findNode(engine, node);
      await (await engine.table("orders")).put(drainKey(address), "yes");
      const { nodes } = await until(engine, ({ cells }) => cells.every(({ owner }) => owner !== address));
      const others = nodes.filter((one) => one.lease === "ok" && one.address !== address).length;
      if (others === 0) return `${address} keeps what it owns until there is another node that is not draining.\n`;
      return `${address} owns nothing. Stop it when you like; ${programName()} cluster undrain ${node} takes it back.\n`;
    },
  },
  undrain: {
    usage: "undrain NODE",
    summary: "let a node own cells again",
    arguments: [1, 1],
    async run({ engine }, [node = ""]) {
      const address = await findNode(engine, node);
      await (await engine.table("orders")).remove(drainKey(address));
      return `${address} may own cells again.\n`;
    },
  },
  forget: {
    usage: "forget NODE",
    summary: "leave a machine that is gone for good out of status",
    arguments: [1, 1],
    async run({ engine }, [node = ""]) {
      const address = await findNode(engine, node);
      const { nodes } = await readStatus(engine);
      if (nodes.find((one) => one.address === address)?.lease !== "lost")
        throw new StartError(`${address} is alive: stop its service first.`);
      await (await engine.table("nodes")).remove(keyOf(address));
      const processes = await engine.table("processes");
      for (const { key } of await processes.list()) if (key.endsWith(`.${keyOf(address)}`)) await processes.remove(key);
      const orders = await engine.table("orders");
      await orders.remove(drainKey(address));
      for (const { key, value } of await orders.list())
        if (key.startsWith(moveKey("")) && value === address) await orders.remove(key);
      return `${address} is forgotten.\n`;
    },
  },
  move: {
    usage: "move CELL NODE|any",
    summary: "let a node own a cell, which then stays there; any: it may move again to even out",
    arguments: [2, 2],
    async run({ engine }, [cell = "", node = ""]) {
      await requireCell(engine, cell);
      const orders = await engine.table("orders");
      if (node === "any") {
        await orders.remove(keepKey(Number(cell)));
        return `Cell ${cell} may move again, so that the machines own about as many cells each.\n`;
      }
      const address = await findNode(engine, node);
      const { nodes } = await readStatus(engine);
      if (nodes.find((one) => one.address === address)?.lease !== "ok")
        throw new StartError(`${address} is not alive, or draining. See: ${programName()} cluster status`);
      const began = performance.now();
      await orders.put(keepKey(Number(cell)), address);
      await orders.put(moveKey(Number(cell)), address);
      // The node takes the order away once it serves the cell.
      const isDone = async () => (await orders.find(moveKey(Number(cell)))) === undefined;
      await until(engine, isDone);
      if (!(await isDone()))
        return `The cell is still on its way to ${address}. See: ${programName()} cluster status\n`;
      return `${address} owns cell ${cell} after ${((performance.now() - began) / 1000).toFixed(1)} s.\n`;
    },
  },
};

/** How many cells the cluster has. */
async function countCells(engine: Engine): Promise<number> {
  return readCount(await engine.table("cells"));
}

async function requireCell(engine: Engine, cell: string): Promise<void> {
  const have = await countCells(engine);
  if (/^\d+$/.test(cell) && Number(cell) < have) return;
  const all = have === 1 ? "the cell 0" : `the cells 0 to ${have - 1}`;
  throw new StartError(`There is no cell ${cell}: this cluster has ${all}.`);
}

/** Returns the exit code: 0, or 2 with the usage on standard error. */
export async function clusterCommand([name = "", ...args]: string[], flags: Flags): Promise<number> {
  // For `check`: in a process of its own, of the service.
  if (name === "fingerprint" && args[0] !== undefined) return printFingerprint(args[0]);
  const command = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  const unknown = Object.keys(flags).find((flag) => !command?.flags?.includes(flag));
  const [least, most] = command?.arguments ?? [0, 0];
  if (!command || unknown !== undefined || args.length < least || args.length > most) {
    const usage = command ? `Usage: ${programName()} cluster ${command.usage}` : clusterHelp();
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  const config = loadAllSettings(environment());
  if (name === "leave") return leave(config);
  const { url } = config.of(clusterSettings);
  if (url === undefined)
    throw new StartError(
      "CLUSTER_URL is not set, so this machine is alone. See docs/cluster.md for how to begin a cluster.",
    );
  const { openNatsEngine } = await import("../../../cluster/nats/nats-engine.ts");
  const engine = await openNatsEngine({ address: url, name: "berth cluster" });
  try {
    process.stdout.write(await command.run({ config, engine }, args, flags));
    if (name !== "status" && name !== "check" && !(name === "cells" && args.length === 0))
      await note(config, name, args);
    return 0;
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    throw new StartError(
      `NATS did not answer in time (${error.message}). Try again; if it stays so, look whether all of its servers are well: ${programName()} doctor`,
    );
  } finally {
    await engine.close();
  }
}

/** Prints a line when the contents are fixed, then the fingerprint as JSON. */
async function printFingerprint(file: string): Promise<number> {
  const { fingerprint } = await import("../../../cluster/check/fingerprint.ts");
  const found = fingerprint(file, () => void writeSync(1, "pinned\n"));
  process.stdout.write(`${JSON.stringify(found)}\n`);
  return 0;
}

async function leave(config: Config): Promise<number> {
  const { leaveCluster } = await import("../../cluster/join.ts");
  await leaveCluster(config);
  await note(config, "leave", []);
  process.stdout.write(
    "This machine's database is its own now. Remove CLUSTER_URL before you start the service; with cells, set CELLS.\n",
  );
  return 0;
}

async function note(config: Config, command: string, args: readonly string[]): Promise<void> {
  const { noteCommand } = await import("../security/operator-note.ts");
  const name = args.join(" ");
  await noteCommand(config, `cluster.${command}`, { kind: "cluster", id: name, name });
}

export function clusterHelp(): string {
  const rows = Object.values(SUBCOMMANDS);
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  const lines = rows.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return [`Usage: ${programName()} cluster COMMAND`, "", ...lines].join("\n");
}

/** The address of a node, from that or from its host and port. */
async function findNode(engine: Engine, given: string): Promise<string> {
  const known = (await (await engine.table("nodes")).list()).flatMap(({ value }) =>
    value === undefined ? [] : [(JSON.parse(value) as { address: string }).address],
  );
  const found = known.find((address) => address === given || shortName(address) === given);
  if (found !== undefined) return found;
  const names = known.map(shortName).join(", ") || "none";
  throw new StartError(`There is no node ${given}. Nodes: ${names}.`);
}

const MAX_WAIT_MS = 30_000;
/** What the marks of ids can tell apart. */
const MAX_CELLS = 4_096;
/** More than the processors of a large machine. */
const CELLS_OF_MACHINE = 16;

/** Looks until it holds, but for half a minute at most. */
async function until(
  engine: Engine,
  holds: (status: ClusterStatus) => boolean | Promise<boolean>,
): Promise<ClusterStatus> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const status = await readStatus(engine);
    if ((await holds(status)) || performance.now() > deadline) return status;
  }
}

const sizeOf = (bytes: number) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
