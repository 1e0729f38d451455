// Tests that a report of all cells leaves out, and names, those that do not answer.
import { expect, test } from "bun:test";
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import type { CellReports } from "../fleet-reports.ts";
import { answerReport, createWholeReports } from "./whole-reports.ts";

const WAIT_MS = 20;
const runtimes = (agents: number) => ({ runtimes: [{ version: "1", agents, available: true }] });

const AGENT = {
  ...{ name: "Skipper", subdomain: "skipper", status: "running", reason: null, frozen: null, model: "model_a" },
  ...{ runtimeVersion: "1", owner: { id: "u", email: "ada@example.com", name: "Ada", disabled: false }, channels: [] },
  ...{ costTodayUsd: 0, errorsToday: 0, lastActivityAt: null, createdAt: "2026-11-27T05:00:00.000Z" },
};

const PROGRAM = {
  ...{ version: "1", bun: "1", platform: "linux", startedAt: "2026-11-27T05:00:00.000Z" },
  ...{ role: "all", program: "berth", migration: "0001" },
};

/** Cells of which each has as many agents as its number says, and agents are its list. */
function createCells(away: Partial<Record<number, () => Promise<string>>> = {}) {
  const unused = async () => Promise.reject(new Error("No test asks for this."));
  const reportsOf = (cell: number): CellReports => ({
    versions: async () => ({ ...PROGRAM, ...runtimes(cell + 1) }),
    agents: async ({ limit }) => ({
      agents: Array.from({ length: limit === "1" ? 1 : cell + 1 }, (_, n) => ({ ...AGENT, id: `${cell}-${n}` })),
      total: cell + 1,
      next: null,
    }),
    usage: async () => Promise.reject(invalidInput({ path: "from", message: "No day." })),
    ...{ overview: unused, providers: unused, figures: unused, storage: unused, jobs: unused, channels: unused },
  });
  const cells = {
    here: 0,
    others: [1, 2],
    ask: async (cell: number, _: string, text: string) => away[cell]?.() ?? answerReport(reportsOf(cell), text),
  };
  return createWholeReports(cells, reportsOf(0), WAIT_MS);
}

test("all cells are added up", async () => {
  expect(await createCells().versions()).toMatchObject({ ...runtimes(6), cells: { asked: 3, missing: [] } });
});

test("a cell that is away, and one that hangs, are left out and named", async () => {
  const refuse = () => Promise.reject(new AppError(503, "CELL_AWAY", "It starts."));
  const hang = () => Promise.withResolvers<string>().promise;
  expect(await createCells({ 1: refuse, 2: hang }).versions()).toMatchObject({
    ...runtimes(1),
    cells: { asked: 3, missing: [1, 2] },
  });
});

test("a list goes on with the cells that answer", async () => {
  const refuse = () => Promise.reject(new AppError(503, "CELL_AWAY", "It starts."));
  const reports = createCells({ 1: refuse });
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await reports.agents(cursor === undefined ? {} : { cursor });
    expect(page).toMatchObject({ total: 4, cells: { missing: [1] } });
    found.push(...page.agents.map(({ id }) => id));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  expect(found).toEqual(["0-0", "2-0", "2-1", "2-2"]);
});

test("what a cell refuses is refused", async () => {
  await expect(createCells().usage({ from: "x" })).rejects.toMatchObject({ status: 400 });
});
