// A button. One primary button a view; the others are quiet.

import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";

type Look = "primary" | "quiet" | "bare" | "danger";

const LOOKS: Readonly<Record<Look, string>> = {
  primary: "bg-fill text-white hover:bg-fill-strong border-transparent",
  quiet: "bg-card text-ink hover:bg-hover border-line",
  bare: "bg-transparent text-sea hover:bg-hover border-transparent",
  danger: "bg-card text-bad hover:bg-bad-wash border-bad",
};

const BASE =
  "inline-flex min-h-8 items-center justify-center gap-1.5 rounded-round border px-3 py-1 font-medium transition-colors disabled:cursor-default disabled:opacity-60 [&_svg]:size-4 [&_svg]:shrink-0";

/** The classes of a button, for links. */
export const buttonClass = (look: Look): string => `${BASE} ${LOOKS[look]}`;

export interface ButtonProps extends ComponentProps<"button"> {
  look?: Look;
  /** Shows that the work goes on; a second click does nothing. */
  isBusy?: boolean;
}

export function Button({ look = "quiet", isBusy = false, className = "", children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
      className={`${BASE} ${LOOKS[look]} ${className}`}
    >
      {isBusy && <LoaderCircle className="animate-spin" aria-hidden="true" />}
      {children}
    </button>
  );
}

/** A link to a page that looks like a button. */
export const ButtonLink = ({ href, look = "quiet", children }: { href: string; look?: Look; children: ReactNode }) => (
  <Link href={href} className={buttonClass(look)}>
    {children}
  </Link>
);
