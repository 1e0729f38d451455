// Says why a place is empty and what to do about it.

import type { ReactNode } from "react";

interface Props {
  title: string;
  /** One or two sentences. */
  children?: ReactNode;
  action?: ReactNode;
}

export const EmptyState = ({ title, children, action }: Props) => (
  <div className="flex flex-col items-start gap-2 rounded-large border border-edge border-dashed px-5 py-8">
    <p className="font-semibold text-md">{title}</p>
    {children && <div className="max-w-prose text-soft">{children}</div>}
    {action && <div className="mt-1">{action}</div>}
  </div>
);
