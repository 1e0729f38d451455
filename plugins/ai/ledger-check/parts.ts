// Divides tables of millions of rows into parts of some ten thousand: SQLite sorts each part in a few megabytes of memory.
import type { InValue } from "@libsql/client";
import { DAY } from "../../../src/kernel/util/time.ts";
import type { Read } from "./comparison.ts";

/** More rows take more memory, and no less time. */
const PART_ROWS = 20_000;
/** Before and after all days, and all months. */
const [FIRST, LAST] = [-1e9, 1e9];
/** As a value of SQLite, a blob comes after every text. */
const AFTER_TEXTS = new Uint8Array([0]);

type Range = readonly [first: number, last: number];

/** Days, with all rows of the ledger and all sums of them. */
export interface DaysPart {
  from: number;
  /** The day after the last. */
  to: number;
  /** Numbers between which the rows of the ledger are, with few others. */
  ranges: Range[];
}

/** Accounts, or a month of one that has many rows. The conditions are for tables with days and with months. */
export interface AccountsPart {
  days: string;
  months: string;
  args: InValue[];
  /** What `months` takes besides. */
  monthArgs: InValue[];
}

/** The numbers of rows of the ledger, in the order of their storage. */
function* rowRanges(read: Read, upto: number, partRows: number): Generator<Range> {
  for (let after = 0; ; ) {
    const [row] = read(
      `SELECT max(number) AS last FROM (SELECT rowid AS number FROM usage WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid LIMIT ${partRows})`,
      [after, upto],
    );
    if (typeof row?.last !== "number") return;
    yield [after + 1, row.last];
    after = row.last;
  }
}

/** Rows of the ledger up to this number, and their sums. The rows have no index by day, but are stored nearly in the order of time. */
export function* partsByDay(read: Read, since: number, upto: number, partRows = PART_ROWS): Generator<DaysPart> {
  const days = new Map<number, { rows: number; ranges: Range[] }>();
  const add = (day: number, rows: number, ranges: Range[]) => {
    const known = days.get(day) ?? { rows: 0, ranges: [] };
    days.set(day, { rows: known.rows + rows, ranges: [...known.ranges, ...ranges] });
  };
  for (const range of rowRanges(read, upto, partRows))
    for (const { day, rows, first, last } of read(
      `SELECT at / ${DAY} AS day, count(*) AS rows, min(rowid) AS first, max(rowid) AS last FROM usage
        WHERE rowid BETWEEN ?1 AND ?2 AND at >= ?3 * ${DAY} GROUP BY 1`,
      [...range, since],
    ))
      add(Number(day), Number(rows), [[Number(first), Number(last)]]);
  for (const { day, rows } of read("SELECT day, count(*) AS rows FROM usage_days WHERE day >= ?1 GROUP BY day", [
    since,
  ]))
    add(Number(day), Number(rows), []);

  let part: DaysPart | undefined;
  let sum = 0;
  for (const [day, { rows, ranges }] of [...days].sort(([a], [b]) => a - b)) {
    if (part && sum + rows > partRows) {
      yield part;
      part = undefined;
      sum = 0;
    }
    part = { from: part?.from ?? day, to: day + 1, ranges: joined([...(part?.ranges ?? []), ...ranges]) };
    sum += rows;
  }
  if (part) yield part;
}

/** Without overlaps, so that no row counts twice. */
function joined(ranges: readonly Range[]): Range[] {
  const all: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = all.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else all.push([first, last]);
  }
  return all;
}

/** All accounts, in the order of their ids; between two parts is none. */
export function* partsByAccount(read: Read, partRows = PART_ROWS): Generator<AccountsPart> {
  const between = (from: InValue, to: InValue): AccountsPart => {
    const accounts = "user_id >= ?1 AND user_id < ?2";
    return { days: accounts, months: accounts, args: [from, to], monthArgs: [] };
  };
  let from = "";
  let sum = 0;
  for (const { user_id, rows } of read("SELECT user_id, count(*) AS rows FROM usage_days GROUP BY user_id")) {
    const userId = String(user_id);
    if (sum > 0 && sum + Number(rows) > partRows) {
      yield between(from, userId);
      from = userId;
      sum = 0;
    }
    sum += Number(rows);
    if (sum <= partRows) continue;
    if (from < userId) yield between(from, userId);
    yield* monthsOf(read, userId);
    // The next text, since no id has this character.
    from = `${userId}\u0001`;
    sum = 0;
  }
  yield between(from, AFTER_TEXTS);
}

function* monthsOf(read: Read, userId: string): Generator<AccountsPart> {
  const [row] = read("SELECT min(day) AS first, max(day) AS last FROM usage_days WHERE user_id = ?1", [userId]);
  const begins: { day: number; month: number }[] = [];
  const date = new Date(Number(row?.first) * DAY);
  for (date.setUTCDate(1); date.getTime() / DAY <= Number(row?.last); date.setUTCMonth(date.getUTCMonth() + 1))
    begins.push({ day: date.getTime() / DAY, month: date.getUTCFullYear() * 100 + date.getUTCMonth() + 1 });
  for (const [index, { day, month }] of begins.entries()) {
    const next = begins[index + 1] ?? { day: LAST, month: LAST };
    yield {
      days: "user_id = ?1 AND day >= ?2 AND day < ?3",
      months: "user_id = ?1 AND month >= ?4 AND month < ?5",
      args: [userId, index === 0 ? FIRST : day, next.day],
      monthArgs: [index === 0 ? FIRST : month, next.month],
    };
  }
}

/** What credits have paid for, by account, as pairs in JSON: the accounts are few, and the rows are not sorted all at once. */
export function creditsByAccount(read: Read): string {
  const sums = new Map<string, number>();
  for (const range of rowRanges(read, Number.MAX_SAFE_INTEGER, PART_ROWS))
    for (const { user_id, micro } of read(
      `SELECT user_id, sum(credit_micro_usd) AS micro FROM usage
        WHERE rowid BETWEEN ?1 AND ?2 AND credit_micro_usd > 0 AND user_id IS NOT NULL GROUP BY 1`,
      [...range],
    ))
      sums.set(String(user_id), (sums.get(String(user_id)) ?? 0) + Number(micro));
  return JSON.stringify([...sums]);
}
