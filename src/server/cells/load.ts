// Counts what a cell has.
import type { CellLoad } from "../../cluster/cells/loads.ts";
import type { Kernel } from "../../kernel/plugin.ts";

const COUNT = "SELECT (SELECT count(*) FROM users) AS accounts, (SELECT count(*) FROM agents) AS agents";

export async function readLoad({ database }: Pick<Kernel, "database">): Promise<CellLoad> {
  const [row] = (await database.read(COUNT)).rows;
  return { accounts: Number(row?.accounts), agents: Number(row?.agents) };
}
