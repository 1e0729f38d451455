// The navigation of an agent's pages: beside the page on a wide screen; above it a row of links and a list of all on a phone.

import { Menu } from "lucide-react";
import { type RefObject, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { bringIntoView } from "../../parts/lists/bring-into-view.ts";
import { t } from "../../viewer/language.ts";
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
    if (current) bringIntoView(here.current);
  }, [current]);
  return (
    <nav
      aria-label={t("Pages of this agent")}
      className="flex shrink-0 border-edge border-b md:min-h-0 md:w-44 md:flex-col md:gap-4 md:border-b-0"
    >
      <div className="flex min-w-0 flex-1 gap-1 overflow-x-auto px-4 md:min-h-0 md:flex-col md:gap-4 md:overflow-y-auto md:px-0">
        <Links id={id} current={current} here={here} />
      </div>
      <AllPages id={id} current={current} />
    </nav>
  );
}

interface LinksProps {
  id: string;
  current: AgentPage | undefined;
  here: RefObject<HTMLAnchorElement | null>;
}

const pagesOf = (group: AgentPageGroup | undefined) => AGENT_PAGES.filter((page) => page.group === group);

const Links = ({ id, current, here }: LinksProps) => (
  <>
    {GROUPS.map((group) => {
      const pages = pagesOf(group);
      if (pages.length === 0) return null;
      return (
        <div key={group ?? ""} className="flex shrink-0 gap-1 md:flex-col md:gap-0.5">
          {group && <p className="hidden px-2 pb-0.5 text-soft text-xs md:block">{t(AGENT_PAGE_GROUPS[group])}</p>}
          {pages.map((page) => (
            <Link
              key={page.path}
              ref={page === current ? here : undefined}
              href={addressOf(id, page)}
              onFocus={({ currentTarget }) => bringIntoView(currentTarget)}
              aria-current={page === current ? "page" : undefined}
              className="flex items-center gap-2 whitespace-nowrap border-transparent border-b-2 px-2 py-2 text-soft transition-colors hover:text-ink aria-[current]:border-sea aria-[current]:font-medium aria-[current]:text-ink md:-outline-offset-2 md:rounded-round md:border-b-0 md:py-1.5 md:aria-[current]:bg-wash md:aria-[current]:text-sea md:hover:bg-hover"
            >
              <page.Icon className="hidden size-4 md:block" aria-hidden="true" />
              {t(page.label)}
            </Link>
          ))}
        </div>
      );
    })}
  </>
);

/** On a phone most pages are out of sight: the system's own list shows them all, by their headings. */
function AllPages({ id, current }: Pick<LinksProps, "id" | "current">) {
  const [, navigate] = useLocation();
  return (
    <label className="relative grid w-11 shrink-0 place-items-center border-edge border-l text-soft has-focus-visible:outline-2 has-focus-visible:outline-sea has-focus-visible:-outline-offset-2 md:hidden">
      <Menu className="size-4.5" aria-hidden="true" />
      <select
        aria-label={t("All pages of this agent")}
        value={current ? addressOf(id, current) : ""}
        onChange={({ target }) => navigate(target.value)}
        className="absolute inset-0 cursor-pointer bg-raised text-ink opacity-0"
      >
        {GROUPS.map((group) => {
          const options = pagesOf(group).map((page) => (
            <option key={page.path} value={addressOf(id, page)}>
              {t(page.label)}
            </option>
          ));
          return group ? (
            <optgroup key={group} label={t(AGENT_PAGE_GROUPS[group])}>
              {options}
            </optgroup>
          ) : (
            options
          );
        })}
      </select>
    </label>
  );
}
