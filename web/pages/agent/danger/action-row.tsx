// An action with what it does, and its button at the side.

import type { ReactNode } from "react";

interface Props {
  title: string;
  explanation: string;
  /** What came of it. */
  result?: ReactNode;
  children: ReactNode;
}

export const ActionRow = ({ title, explanation, result, children }: Props) => (
  <div className="flex flex-wrap items-center gap-x-6 gap-y-2 border-edge border-b py-3.5 last:border-b-0">
    <div className="min-w-60 flex-1">
      <h2 className="font-semibold">{title}</h2>
      <p className="max-w-prose text-soft text-sm">{explanation}</p>
      <div role="status" className="mt-1 text-sm empty:hidden">
        {result}
      </div>
    </div>
    {children}
  </div>
);
