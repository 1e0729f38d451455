// A state by shape, colour and word: a disc is well, a ring is on its way, a square rests, a triangle needs somebody.

import type { ReactNode } from "react";

export type Tone = "good" | "busy" | "idle" | "warn" | "bad";

const SHAPES: Readonly<Record<Tone, ReactNode>> = {
  good: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  busy: <circle cx="6" cy="6" r="3.75" fill="none" stroke="currentColor" strokeWidth="1.75" strokeDasharray="3 2" />,
  idle: <rect x="2" y="2" width="8" height="8" rx="1" fill="currentColor" />,
  warn: <path d="M6 1 11.5 11H.5z" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" />,
  bad: <path d="M6 1 11.5 11H.5z" fill="currentColor" />,
};

const COLORS: Readonly<Record<Tone, string>> = {
  good: "text-good",
  busy: "text-sea",
  idle: "text-soft",
  warn: "text-warn",
  bad: "text-bad",
};

export const Status = ({ tone, children }: { tone: Tone; children: ReactNode }) => (
  <span className={`inline-flex items-center gap-1.5 ${COLORS[tone]}`}>
    <svg viewBox="0 0 12 12" aria-hidden="true" className="size-2.5 shrink-0">
      {SHAPES[tone]}
    </svg>
    <span>{children}</span>
  </span>
);

const BADGES: Readonly<Record<Tone, string>> = {
  good: "bg-good-wash text-good",
  busy: "bg-wash text-sea",
  idle: "bg-well text-soft",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
};

/** A small label, such as a plan or a kind. */
export const Badge = ({ tone = "idle", children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`inline-block rounded-full px-2 font-medium text-xs ${BADGES[tone]}`}>{children}</span>
);

/** A message within a page that is not an error of a request. */
export const Notice = ({ tone = "busy", children }: { tone?: Tone; children: ReactNode }) => (
  <div className={`flex flex-col items-start gap-2 rounded-large px-3 py-2 ${BADGES[tone]}`}>{children}</div>
);
