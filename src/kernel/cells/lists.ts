// Reads lists that go over all cells, one cell after the other.
import { invalidInput } from "../errors.ts";
import type { Cells } from "./cells.ts";

/** Reads here, or asks another cell. Arguments and results are JSON. */
export async function readIn<Args, Result>(
  cells: Pick<Cells, "here" | "ask">,
  cell: number,
  question: string,
  args: Args,
  here: (args: Args) => Promise<Result>,
): Promise<Result> {
  return cell === cells.here
    ? here(args)
    : (JSON.parse(await cells.ask(cell, question, JSON.stringify(args))) as Result);
}

const countOf = ({ others }: Pick<Cells, "others">) => others.length + 1;

/** A page by its offset, filled up from the next cells. */
export async function pageByOffset<Item>(
  cells: Pick<Cells, "others">,
  { offset, limit }: { offset: number; limit: number },
  read: (cell: number, range: { offset: number; limit: number }) => Promise<{ items: Item[]; total: number }>,
): Promise<{ items: Item[]; total: number }> {
  const items: Item[] = [];
  let before = 0;
  for (let cell = 0; cell < countOf(cells); cell++) {
    const page = await read(cell, { offset: Math.max(0, offset - before), limit: limit - items.length });
    items.push(...page.items);
    before += page.total;
  }
  return { items, total: before };
}

/** A page by its cursor: the number of a cell, a colon, and that cell's own cursor. Throws 400 for another text. */
export async function pageByCursor<Page extends { next: string | null }>(
  cells: Pick<Cells, "others">,
  cursor: string | undefined,
  read: (cell: number, cursor: string | undefined) => Promise<Page>,
  isEmpty: (page: Page) => boolean,
): Promise<Page> {
  const last = countOf(cells) - 1;
  const [whole, number = "0", rest = ""] = /^(\d{1,4}):(.*)$/s.exec(cursor ?? "0:") ?? [];
  if (whole === undefined || Number(number) > last) throw badCursor();
  for (let cell = Number(number), own = rest; ; cell++, own = "") {
    const page = await read(cell, own === "" ? undefined : own);
    const end = cell === last ? null : `${cell + 1}:`;
    const next = page.next === null ? end : `${cell}:${page.next}`;
    if (next === null || !isEmpty(page)) return { ...page, next };
  }
}

const badCursor = () => invalidInput({ path: "cursor", message: "Give the `next` of the page before, unchanged." });
