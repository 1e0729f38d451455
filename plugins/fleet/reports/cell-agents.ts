// The list of agents over all cells.
import type { Static } from "elysia";
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import { pageByCursor, readIn } from "../../../src/kernel/cells/lists.ts";
import type { agentsQuery, agentsResponse } from "../model.ts";

type Query = Static<typeof agentsQuery>;
type Page = Static<typeof agentsResponse>;

/** Answered by the other cells: see ../index.ts. */
const QUESTION = "fleet.agents";

export async function agentsOfAllCells(
  cells: Cells,
  query: Query,
  readHere: (query: Query) => Promise<Page>,
): Promise<Page> {
  const read = (cell: number, wanted: Query) => readIn(cells, cell, QUESTION, wanted, (own) => readHere(own));
  const { cursor: given, ...filter } = query;
  const page = await pageByCursor(
    cells,
    given,
    (cell, cursor) => read(cell, { ...filter, ...(cursor !== undefined && { cursor }) }),
    ({ agents }) => agents.length === 0,
  );
  // A cell knows its number without a page, or not at all.
  const totals = await Promise.all(
    [cells.here, ...cells.others].map(async (cell) => (await read(cell, { ...filter, limit: "1" })).total),
  );
  const total = totals.reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
  return { ...page, total };
}
