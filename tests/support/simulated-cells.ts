// Cells in the process of a test, each with a database of its own, and the steps by which accounts move between them. `power` is what a
// kill -9 takes: from a certain write on, none is done until the power is back.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountFiles } from "../../src/cluster/accounts/account-files.ts";
import { type AccountMoves, createAccountMoves } from "../../src/cluster/accounts/account-moves.ts";
import { type AccountSide, createAccountSide } from "../../src/cluster/accounts/account-side.ts";
import { createGate, type Gate } from "../../src/cluster/accounts/gate.ts";
import { writeParcel } from "../../src/cluster/accounts/parcel/parcel-writer.ts";
import type { BlobStore } from "../../src/cluster/engine.ts";
import { createSharedFiles } from "../../src/cluster/files/shared-files.ts";
import { createMemoryEngine } from "../../src/cluster/memory-engine.ts";
import type { Actor } from "../../src/kernel/audit/actor.ts";
import { type Database, openDatabase } from "../../src/kernel/database/database.ts";
import { createLog } from "../../src/kernel/telemetry/log.ts";

/** Who moves accounts there. */
export const OPERATOR: Actor = { kind: "command", id: null, name: "ops", address: null, requestId: null };

export interface SimulatedCell {
  database: Database;
  side: AccountSide;
  gate: Gate;
  /** Opens it on another machine, which has the same rows and shares files with those before, but has a data folder of its own. */
  openOn(machine: string): Promise<void>;
  /** The parcels on all machines, and those that they share. */
  parcels(): Promise<string[]>;
  /** The data folder of its first machine. */
  folder: string;
  /** What its machines share. */
  blobs: BlobStore;
}

export type SimulatedCells = Awaited<ReturnType<typeof openSimulatedCells>>;

const log = createLog({ level: "error", format: "json" });
/** The file of an empty database: its migrations take longer than a copy. */
let empty: Promise<Uint8Array> | undefined;
async function makeEmpty(): Promise<Uint8Array> {
  const dataDir = mkdtempSync(join(tmpdir(), "berth-cells-"));
  const file = join(dataDir, "berth.db");
  await (await openDatabase({ url: `file:${file}`, dataDir, log })).close();
  const bytes = await Bun.file(file).bytes();
  rmSync(dataDir, { recursive: true });
  return bytes;
}

export async function openSimulatedCells(count: number, { quietMs }: { quietMs?: number } = {}) {
  const root = mkdtempSync(join(tmpdir(), "berth-cells-"));
  const power = { writesLeft: Number.POSITIVE_INFINITY, used: 0 };
  const cells: SimulatedCell[] = [];
  /** What is wrong with the audit log of each. */
  const auditBreaks: string[] = [];
  for (let here = 0; here < count; here++) cells.push(await openCell(here));

  async function openCell(here: number): Promise<SimulatedCell> {
    const dataDir = join(root, String(here));
    mkdirSync(dataDir);
    const file = join(dataDir, "berth.db");
    empty ??= makeEmpty();
    await Bun.write(file, await empty);
    const opened = await openDatabase({ url: `file:${file}`, dataDir, log });
    const powered =
      (write: Database["write"]): Database["write"] =>
      async (statements) => {
        if (power.used >= power.writesLeft) throw new Error("killed");
        power.used++;
        return write(statements);
      };
    const database = { ...opened, write: powered(opened.write), writeLong: powered(opened.writeLong) };
    const gate = createGate({ database, agentsDomain: "agents.example", here });
    const blobs = await createMemoryEngine().connect().blobs("files");
    const foldersOf = new Map([["first", dataDir]]);
    function sideOn(machine: string): AccountSide {
      const folder = foldersOf.get(machine) ?? join(root, `${here}-${machine}`);
      foldersOf.set(machine, folder);
      const files = accountFiles(createSharedFiles({ blobs, dataDir: folder, log }));
      return createAccountSide({
        ...{ here, database, dataDir: folder, gate, hooks: [], call, log, files },
        pack: async (account, path) => writeParcel({ file, dataDir: folder, account }, path),
        ...(quietMs !== undefined && { quietMs }),
        auditBreaks: async () => auditBreaks,
      });
    }
    const cell: SimulatedCell = {
      database,
      side: sideOn("first"),
      gate,
      folder: dataDir,
      blobs,
      async openOn(machine) {
        cell.side = sideOn(machine);
        await cell.side.sweep();
      },
      async parcels() {
        const local = [...foldersOf].flatMap(([machine, folder]) =>
          namesIn(join(folder, "moves")).map((name) => `${machine}: ${name}`),
        );
        const shared = (await blobs.list()).filter(({ name }) => name.startsWith("moves/"));
        return [...local, ...shared.map(({ name }) => `shared: ${name}`)];
      },
    };
    return cell;
  }

  async function call<Result>(to: number, _: string, args: unknown): Promise<Result> {
    const { step, args: given } = args as { step: keyof AccountSide; args: never };
    return (await at(to).side[step](given)) as Result;
  }

  function at(cell: number): SimulatedCell {
    const found = cells[cell];
    if (!found) throw new Error(`There is no cell ${cell}.`);
    return found;
  }

  const rowsIn = async (cell: number, sql: string, ...args: (string | number)[]): Promise<Record<string, unknown>[]> =>
    (await at(cell).database.read(sql, args)).rows.map((row) => ({ ...row }));

  return {
    power,
    auditBreaks,
    at,
    call,
    rowsIn,
    countIn: async (cell: number, table: string) =>
      Number((await rowsIn(cell, `SELECT count(*) AS n FROM ${table}`))[0]?.n),
    insert: (cell: number, table: string, row: Record<string, string | number | null>) =>
      at(cell).database.write([insertStatement(table, row)]),
    /** As a process of cell 0 has it, since its start. */
    driver: (
      more: Partial<Pick<Parameters<typeof createAccountMoves>[0], "count" | "closed" | "record">> = {},
    ): AccountMoves =>
      createAccountMoves({
        database: at(0).database,
        count: () => count,
        call,
        ...more,
        log: { info: () => undefined, warn: () => undefined },
        finishMs: 0,
      }),
    async close() {
      for (const { database } of cells) await database.close();
      rmSync(root, { recursive: true });
    },
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export const insertStatement = (table: string, row: Record<string, string | number | null>) => ({
  sql: `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row).map(() => "?")})`,
  args: Object.values(row),
});
