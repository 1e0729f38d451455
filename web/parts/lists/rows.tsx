// A list of records without heads: columns on a wide screen, stacked on a phone.

import type { ReactNode } from "react";

interface Props<Row> {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The columns of a wide screen, such as `md:grid-cols-[10rem_minmax(0,1fr)_auto]`. */
  columns: string;
  /** The cells of a row, one element a column. */
  children: (row: Row) => ReactNode;
}

export const Rows = <Row,>({ label, rows, keyOf, columns, children }: Props<Row>) => (
  <ul aria-label={label} className="-my-2">
    {rows.map((row) => (
      <li
        key={keyOf(row)}
        className={`flex flex-col items-start gap-x-4 gap-y-1.5 border-edge border-b py-2.5 last:border-b-0 md:grid md:items-center ${columns}`}
      >
        {children(row)}
      </li>
    ))}
  </ul>
);
