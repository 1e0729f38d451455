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

/** Opens a file of the API, such as a picture that was sent, beside the page. `href` is a path of this server. */
export const FileLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} target="_blank" rel="noopener" className="block rounded-large border border-edge">
    {children}
  </a>
);

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
