// A message in the middle of an otherwise empty page.

import type { ReactNode } from "react";

export const CenteredNote = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="mx-auto flex max-w-md flex-col items-start gap-3 px-6 py-24">
    <h1 className="font-semibold text-xl">{title}</h1>
    {children}
  </div>
);
