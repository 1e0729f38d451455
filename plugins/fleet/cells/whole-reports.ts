// Makes the reports of the whole service: all cells are asked side by side, and what they answer is joined. A cell that does not
// answer shortly is left out, and the report says so.
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import { pageByCursor, readIn } from "../../../src/kernel/cells/lists.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { readLimit } from "../../../src/kernel/http/paging.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { type CellReports, type FleetReports, MAX_PAGE, PAGE } from "../fleet-reports.ts";
import { toOverview } from "../reports/overview.ts";
import {
  joinChannelCounts,
  joinFacts,
  joinFigures,
  joinJobs,
  joinProviderPages,
  joinStorage,
  joinUsage,
  joinVersions,
  type Reports,
} from "./joins.ts";

const QUESTION = "fleet.report";
/** A page of the console is not to wait for one cell that starts. */
const WAIT_MS = 2 * SECOND;

/** What a cell tells another of itself, by name. */
type Name = keyof CellReports;
type QueryOf<Which extends Name> = Parameters<CellReports[Which]>[0];
type ReportOf<Which extends Name> = Awaited<ReturnType<CellReports[Which]>>;
type Asked = { [Which in Name]: { name: Which; query: QueryOf<Which> } }[Name];

/** How many cells a report asked, and those that did not answer. */
interface Answering {
  asked: number;
  missing: number[];
}

/** Where a page of a cell's own list begins. */
interface At {
  cursor?: string;
}

export type WholeReports = Omit<FleetReports, "settings" | "backups">;

/** Answers what another cell asks: see ../index.ts. */
export async function answerReport(reports: CellReports, text: string): Promise<string> {
  const { name, query } = JSON.parse(text) as Asked;
  // Both are of the same report.
  const report = reports[name] as (query: unknown) => Promise<unknown>;
  return JSON.stringify(await report(query));
}

const noAnswer = () => new AppError(503, "BACKEND_UNAVAILABLE", "No cell answers yet. Try again shortly.");

export function createWholeReports(
  cells: Pick<Cells, "here" | "others" | "ask">,
  here: CellReports,
  waitMs = WAIT_MS,
): WholeReports {
  /** A cluster may get more cells while it runs. */
  const listCells = () => [cells.here, ...cells.others].sort((a, b) => a - b);

  /** Undefined without an answer in time. What this cell itself throws is thrown. */
  async function askOne<Which extends Name>(
    cell: number,
    name: Which,
    query: QueryOf<Which>,
  ): Promise<ReportOf<Which> | undefined> {
    const readHere = here[name] as (query: QueryOf<Which>) => Promise<ReportOf<Which>>;
    if (cell === cells.here) return readHere(query);
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, waitMs, undefined);
    try {
      const asked = readIn(cells, cell, QUESTION, { name, query }, () => readHere(query));
      return await Promise.race([asked, late]);
    } catch (error) {
      if (error instanceof AppError && error.status < 500) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async function askAll<Which extends Name>(name: Which, query: QueryOf<Which>) {
    const all = listCells();
    const reports = await Promise.all(all.map((cell) => askOne(cell, name, query)));
    const [first, ...others] = reports.filter((report) => report !== undefined);
    if (first === undefined) throw noAnswer();
    const answers: Reports<ReportOf<Which>> = [first, ...others];
    const answering: Answering = { asked: all.length, missing: all.filter((_, index) => reports[index] === undefined) };
    return { answers, cells: answering };
  }

  /** With what `join` makes of the answers. */
  async function whole<Which extends Name, Report>(
    name: Which,
    query: QueryOf<Which>,
    join: (answers: Reports<ReportOf<Which>>) => Report,
  ): Promise<Report & { cells: Answering }> {
    const { answers, cells: asked } = await askAll(name, query);
    return { ...join(answers), cells: asked };
  }

  /** A page of a list that has the rows of one cell after those of the other; a cell that does not answer has none. */
  const listPage = <Page extends { next: string | null }>(
    cursor: string | undefined,
    { missing }: Answering,
    empty: Page,
    ask: (cell: number, at: At) => Promise<Page | undefined>,
    isEmpty: (page: Page) => boolean,
  ): Promise<Page> =>
    pageByCursor(
      cells,
      cursor,
      async (cell, own) =>
        missing.includes(cell) ? empty : ((await ask(cell, own === undefined ? {} : { cursor: own })) ?? empty),
      isEmpty,
    );

  return {
    overview: () => whole("overview", undefined, (facts) => toOverview(joinFacts(facts))),
    usage: (query) => whole("usage", query, joinUsage),
    providers: () => whole("providers", undefined, joinProviderPages),
    figures: (query) => whole("figures", query, joinFigures),
    storage: () => whole("storage", undefined, joinStorage),
    versions: () => whole("versions", undefined, joinVersions),
    jobs: (query) => whole("jobs", query, (pages) => joinJobs(pages, readLimit(query.limit, PAGE, MAX_PAGE))),

    async channels({ cursor, ...filter }) {
      const { answers, cells: asked } = await askAll("channels", { ...filter, limit: "1" });
      const empty = { ...answers[0], channels: [], next: null };
      const ask = (cell: number, at: At) => askOne(cell, "channels", { ...filter, ...at });
      const page = await listPage(cursor, asked, empty, ask, ({ channels }) => channels.length === 0);
      return { ...page, ...joinChannelCounts(answers), cells: asked };
    },

    async agents({ cursor, ...filter }) {
      // A cell knows its number without a page, or not at all.
      const { answers, cells: asked } = await askAll("agents", { ...filter, limit: "1" });
      const total = answers.reduce<number | null>(
        (sum, { total: own }) => (sum === null || own === null ? null : sum + own),
        0,
      );
      const empty = { agents: [], total: null, next: null };
      const ask = (cell: number, at: At) => askOne(cell, "agents", { ...filter, ...at });
      const page = await listPage(cursor, asked, empty, ask, ({ agents }) => agents.length === 0);
      return { ...page, total, cells: asked };
    },
  };
}
