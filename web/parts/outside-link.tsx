// Links whose address comes from somebody: only web and mail addresses become links, everything else stays text.

import type { ReactNode } from "react";
import { buttonClass } from "./button.tsx";

/** The address if it is safe to follow: http, https or mailto. */
export function safeHref(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address);
    return ["https:", "http:", "mailto:"].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

export function OutsideLink({ href, children }: { href: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (!safe) return <>{children}</>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" className="text-sea underline">
      {children}
    </a>
  );
}

/** The same as the one filled button of a view. */
export function OutsideButton({ href, children }: { href: string; children: ReactNode }) {
  const safe = safeHref(href);
  if (!safe) return null;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow" className={buttonClass("primary")}>
      {children}
    </a>
  );
}
