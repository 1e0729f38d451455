// Tests that pages over cells have everything once, and end.
import { expect, test } from "bun:test";
import { pageByCursor, pageByOffset } from "./lists.ts";

const LISTS = [["a", "b", "c"], [], ["d"], ["e", "f"]];
const ALL = LISTS.flat();
const cells = { others: [1, 2, 3] };

test("pages by offset are those of one list, whatever their size", async () => {
  for (let limit = 1; limit <= 7; limit++) {
    const found: string[] = [];
    for (let offset = 0; offset < ALL.length; offset += limit) {
      const page = await pageByOffset(cells, { offset, limit }, async (cell, range) => {
        const list = LISTS[cell] ?? [];
        return { items: list.slice(range.offset, range.offset + range.limit), total: list.length };
      });
      expect(page.total).toBe(ALL.length);
      found.push(...page.items);
    }
    expect(found).toEqual(ALL);
  }
});

test("pages by cursor have everything once, and the last one says so", async () => {
  for (const limit of [1, 2, 5]) {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page: { items: string[]; next: string | null } = await pageByCursor(
        cells,
        cursor,
        async (cell, own) => {
          const list = LISTS[cell] ?? [];
          const start = Number(own ?? 0);
          const end = start + limit;
          return { items: list.slice(start, end), next: end < list.length ? String(end) : null };
        },
        ({ items }) => items.length === 0,
      );
      found.push(...page.items);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(found).toEqual(ALL);
  }
});

test("a cursor of another form, or of a cell that there is not, is refused", async () => {
  const read = async () => ({ next: null });
  for (const cursor of ["x", "9:", "-1:", "0"]) {
    await expect(pageByCursor(cells, cursor, read, () => false)).rejects.toMatchObject({ status: 400 });
  }
});
