// The outline of a page: its heading with actions, and sections.

import { type ReactNode, useEffect } from "react";
import { AsCodeButton } from "./as-code-button.tsx";

interface PageProps {
  title: string;
  /** One sentence below the title. */
  intro?: ReactNode;
  actions?: ReactNode;
  /** Takes the whole width and height, such as a chat. */
  isFull?: boolean;
  children: ReactNode;
}

export function Page({ title, intro, actions, isFull = false, children }: PageProps) {
  useTitle(title);
  return (
    <div
      className={
        isFull ? "flex h-[calc(100dvh-3rem)] flex-col md:h-dvh" : "mx-auto w-full max-w-6xl px-4 pt-5 pb-16 md:px-8"
      }
    >
      <header
        className={`flex flex-wrap items-start gap-x-4 gap-y-2 ${isFull ? "border-edge border-b px-4 py-3" : "mb-5"}`}
      >
        <div className={`min-w-0 flex-1 ${intro ? "basis-64" : "basis-32"}`}>
          <h1 className="font-semibold text-xl">{title}</h1>
          {intro && <p className="mt-1 max-w-prose text-soft">{intro}</p>}
        </div>
        <div className="flex flex-wrap items-center gap-2">
          {actions}
          <AsCodeButton />
        </div>
      </header>
      {children}
    </div>
  );
}

/** Names the browser's tab. Pages within a layout that has its own heading call it themselves. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Berth`;
  }, [title]);
}

interface SectionProps {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A titled card. */
export const Section = ({ title, hint, actions, children }: SectionProps) => (
  <section className="mb-5 rounded-large border border-edge bg-card">
    <header className="flex flex-wrap items-center gap-2 border-edge border-b px-4 py-2.5">
      <div className="min-w-0 grow basis-60">
        <h2 className="font-semibold text-md">{title}</h2>
        {hint && <p className="text-soft text-sm">{hint}</p>}
      </div>
      {actions}
    </header>
    <div className="p-4">{children}</div>
  </section>
);

/** A figure with its name, for rows of key figures. */
export const Figure = ({ label, value, hint }: { label: string; value: ReactNode; hint?: ReactNode }) => (
  <div className="min-w-0">
    <dt className="text-soft text-sm">{label}</dt>
    <dd className="font-semibold text-lg">{value}</dd>
    {hint && <dd className="text-soft text-sm">{hint}</dd>}
  </div>
);
