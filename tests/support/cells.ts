// Starts a service with several cells, and looks into them.

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { cellOfId } from "../../src/kernel/cells/marks.ts";
import { type Berth, startBerth } from "./berth.ts";
import { type Client, createClient } from "./client.ts";

export const CELLS = 3;
export const startCells = (env: Record<string, string> = {}) =>
  startBerth({ env: { CELLS: String(CELLS), RATE_LIMITS: "off", ...env }, readyMs: 60_000 });

export interface CellState {
  cell: number;
  pid: number;
  accounts: number;
  state: string;
}
export const statesOf = async (berth: Berth): Promise<CellState[]> =>
  JSON.parse((await berth.command("cells", "--json")).stdout);

/** Accounts until each cell has one: by cell, the client that is signed in. */
export async function oneInEachCell(berth: Berth): Promise<Map<number, { client: Client; id: string }>> {
  const found = new Map<number, { client: Client; id: string }>();
  for (let n = 0; found.size < CELLS && n < CELLS * 4; n++) {
    const client = createClient(berth);
    const id = await client.join();
    found.set(cellOfId(id), { client, id });
  }
  return found;
}

/** The data folder of a cell. */
export const folderOf = (berth: Berth, cell: number) =>
  join(berth.dir, "data", ...(cell === 0 ? [] : ["cells", String(cell)]));

export function countAccounts(berth: Berth, cell: number, email: string): number {
  const database = new Database(join(folderOf(berth, cell), "berth.db"), { readonly: true });
  try {
    const row = database.query<{ n: number }, string>("SELECT count(*) AS n FROM users WHERE email = ?").get(email);
    return Number(row?.n);
  } finally {
    database.close();
  }
}

/** The accounts with this address in all cells. */
export const copies = (berth: Berth, email: string) =>
  Array.from({ length: CELLS }, (_, cell) => countAccounts(berth, cell, email)).reduce((sum, n) => sum + n, 0);
