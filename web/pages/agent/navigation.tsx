// The navigation of an agent's pages: beside the page on a wide screen, a row above it on a phone.

import { useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { t } from "../../app/language.ts";
import { AGENT_PAGE_GROUPS, AGENT_PAGES, type AgentPage, type AgentPageGroup, addressOf } from "./pages.ts";

const GROUPS: readonly (AgentPageGroup | undefined)[] = [
  undefined,
  ...(Object.keys(AGENT_PAGE_GROUPS) as AgentPageGroup[]),
];

/** The page of an address; undefined for one that does not exist. */
export function pageAt(id: string, location: string): AgentPage | undefined {
  return AGENT_PAGES.find((page) => {
    const address = addressOf(id, page);
    return location === address || (page.path !== "" && location.startsWith(`${address}/`));
  });
}

export function AgentNavigation({ id }: { id: string }) {
  const [location] = useLocation();
  const current = pageAt(id, location);
  const here = useRef<HTMLAnchorElement>(null);
  // On a phone the row scrolls sideways to the page that is open.
  useEffect(() => {
    if (current) here.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  return (
    <nav
      aria-label={t("Pages of this agent")}
      className="flex shrink-0 gap-1 overflow-x-auto border-edge border-b px-4 md:w-44 md:flex-col md:gap-4 md:overflow-visible md:border-b-0 md:px-0"
    >
      {GROUPS.map((group) => {
        const pages = AGENT_PAGES.filter((page) => page.group === group);
        if (pages.length === 0) return null;
        return (
          <div key={group ?? ""} className="flex shrink-0 gap-1 md:flex-col md:gap-0.5">
            {group && <p className="hidden px-2 pb-0.5 text-soft text-xs md:block">{t(AGENT_PAGE_GROUPS[group])}</p>}
            {pages.map((page) => (
              <Link
                key={page.path}
                ref={page === current ? here : undefined}
                href={addressOf(id, page)}
                aria-current={page === current ? "page" : undefined}
                className="flex items-center gap-2 whitespace-nowrap border-transparent border-b-2 px-2 py-2 text-soft transition-colors hover:text-ink aria-[current]:border-sea aria-[current]:font-medium aria-[current]:text-ink md:rounded-round md:border-b-0 md:py-1.5 md:aria-[current]:bg-wash md:aria-[current]:text-sea md:hover:bg-hover"
              >
                <page.Icon className="hidden size-4 md:block" aria-hidden="true" />
                {t(page.label)}
              </Link>
            ))}
          </div>
        );
      })}
    </nav>
  );
}
