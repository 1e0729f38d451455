// A table of records, sorted by its heads. On a phone it scrolls sideways, or shows each row as a stack of values.

import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../../viewer/language.ts";
import { useMedia } from "../use-media.ts";

export interface Column<Row> {
  key: string;
  head: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are at the right. */
  isNumber?: boolean;
  canSort?: boolean;
}

export interface Sorting {
  key: string;
  isDescending: boolean;
}

interface Props<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  sorting?: Sorting;
  onSort?: (sorting: Sorting) => void;
  /** On a phone each row is a stack of named values, for tables whose last columns are needed there. */
  isStacked?: boolean;
}

export function Table<Row>({ label, columns, rows, keyOf, sorting, onSort, isStacked = false }: Props<Row>) {
  const isNarrow = useMedia("(max-width: 47.99rem)");
  if (isStacked && isNarrow) return <Stack {...{ label, columns, rows, keyOf }} />;
  return (
    <div className="overflow-x-auto" role="region" aria-label={label} tabIndex={0}>
      <table className="w-full border-collapse text-left [overflow-wrap:break-word]">
        <thead>
          <tr className="border-edge border-b text-soft text-sm">
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                aria-sort={
                  sorting?.key === column.key ? (sorting.isDescending ? "descending" : "ascending") : undefined
                }
                className={`whitespace-nowrap px-2 py-1.5 font-medium first:pl-0 last:pr-0 ${column.isNumber ? "text-right" : ""}`}
              >
                {column.canSort && onSort ? <SortButton {...{ column, sorting, onSort }} /> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className="border-edge border-b last:border-b-0 hover:bg-hover">
              {columns.map((column) => (
                <td
                  key={column.key}
                  className={`px-2 py-1.5 align-top first:pl-0 last:pr-0 ${column.isNumber ? "whitespace-nowrap text-right" : ""}`}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Stack<Row>({
  label,
  columns: [first, ...others],
  rows,
  keyOf,
}: Pick<Props<Row>, "label" | "columns" | "rows" | "keyOf">) {
  return (
    <ul aria-label={label} className="divide-y divide-edge [overflow-wrap:anywhere]">
      {rows.map((row) => (
        <li key={keyOf(row)} className="flex flex-col gap-1.5 py-3">
          {first?.cell(row)}
          <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1">
            {others.map(({ key, head, cell }) => (
              <div key={key} className="contents">
                <dt className="text-soft text-sm">{head}</dt>
                <dd className="min-w-0">{cell(row)}</dd>
              </div>
            ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

interface SortButtonProps<Row> {
  column: Column<Row>;
  sorting: Sorting | undefined;
  onSort: (sorting: Sorting) => void;
}

function SortButton<Row>({ column: { key, head, isNumber }, sorting, onSort }: SortButtonProps<Row>) {
  const isSorted = sorting?.key === key;
  const Arrow = sorting?.isDescending ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      className={`inline-flex items-center gap-1 hover:text-ink ${isNumber ? "flex-row-reverse" : ""}`}
      title={t("Sort by {column}", { column: head })}
      onClick={() => onSort({ key, isDescending: isSorted ? !sorting.isDescending : Boolean(isNumber) })}
    >
      {head}
      {isSorted && <Arrow className="size-3" aria-hidden="true" />}
    </button>
  );
}
