// Shows what a query loads: grey bars first, an error where the result would be, and old data while new data can't be had.

import type { ReactNode } from "react";
import { ErrorNote } from "../error-note.tsx";
import { Skeleton } from "../skeleton.tsx";

interface Props<Data> {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  /** The height of what comes, such as "h-40". */
  height?: string;
  children: (data: Data) => ReactNode;
}

export function Loaded<Data>({ query: { data, error, refetch }, height = "h-40", children }: Props<Data>) {
  return (
    <>
      {error !== null && (
        <div className="mb-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data === undefined ? !error && <Skeleton className={height} /> : children(data)}
    </>
  );
}
