// The frame of every page: the rail with the navigation, the connection's state, and the page itself.

import { Menu as MenuIcon } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { IconButton } from "../parts/icon-button.tsx";
import { CenteredNote } from "../parts/page/centered-note.tsx";
import { useUser } from "../session/session.tsx";
import { t } from "../viewer/language.ts";
import { AccountButton } from "./account-button.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { FrozenBanner } from "./frozen-banner.tsx";
import { ADMIN_ENTRIES, MAIN_ENTRIES, type NavigationEntry } from "./navigation.ts";
import { NewAgent } from "./new-agent.tsx";
import { Palette, PaletteButton } from "./palette-button.tsx";

export function Shell({ children }: { children: ReactNode }) {
  const [location] = useLocation();
  // On a phone the rail covers the page, until a page is chosen in it.
  const [openAt, setOpenAt] = useState<string>();
  const isOpen = openAt === location;
  return (
    <div className="md:grid md:min-h-dvh md:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-round focus:bg-card focus:p-2"
      >
        {t("Skip to the page")}
      </a>
      <header className="sticky top-0 z-30 flex h-12 items-center gap-2 bg-rail px-3 text-rail-ink md:hidden">
        <IconButton
          label={isOpen ? t("Close the menu") : t("Open the menu")}
          aria-expanded={isOpen}
          aria-controls="rail"
          onClick={() => setOpenAt(isOpen ? undefined : location)}
          className="text-rail-ink hover:bg-rail-hover"
        >
          <MenuIcon />
        </IconButton>
        <Brand />
      </header>
      <aside
        id="rail"
        aria-label={t("Navigation")}
        className={`${isOpen ? "flex" : "hidden"} fixed inset-x-0 top-12 bottom-0 z-30 flex-col gap-4 overflow-y-auto bg-rail p-3 text-rail-ink md:sticky md:top-0 md:flex md:h-dvh`}
      >
        <div className="hidden px-2 pt-1 md:block">
          <Brand />
        </div>
        <PaletteButton />
        <Rail />
        <div className="mt-auto">
          <AccountButton />
        </div>
      </aside>
      <main
        id="page"
        tabIndex={-1}
        className="min-w-0 outline-none has-[>[data-full]]:flex has-[>[data-full]]:h-[calc(100dvh-3rem)] has-[>[data-full]]:flex-col md:has-[>[data-full]]:h-dvh"
      >
        <ConnectionBanner />
        <FrozenBanner />
        <ErrorBoundary address={location}>{children}</ErrorBoundary>
      </main>
      <Palette />
      <NewAgent />
    </div>
  );
}

const Brand = () => (
  <Link href="/" className="flex items-center gap-2 rounded-round font-semibold text-md text-white">
    <svg viewBox="0 0 32 32" aria-hidden="true" className="size-6">
      <rect width="32" height="32" rx="7" fill="var(--fill)" />
      <path d="M11 8h10v4h-3v9a6 6 0 0 0 5-3l2 3a10 10 0 0 1-18 0l2-3a6 6 0 0 0 5 3v-9h-3z" fill="#fff" />
    </svg>
    Berth
  </Link>
);

function Rail() {
  const { isAdmin } = useUser();
  return (
    <nav className="flex flex-col gap-5" aria-label={t("Pages")}>
      <RailGroup entries={MAIN_ENTRIES} />
      {isAdmin && ADMIN_ENTRIES.length > 0 && <RailGroup title={t("This server")} entries={ADMIN_ENTRIES} />}
    </nav>
  );
}

function RailGroup({ title, entries }: { title?: string; entries: readonly NavigationEntry[] }) {
  return (
    <div>
      {title && <h2 className="px-2 pb-1 font-medium text-rail-soft text-xs">{title}</h2>}
      <ul className="flex flex-col gap-0.5">
        {entries.map((entry) => (
          <li key={entry.path}>
            <RailLink {...entry} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function RailLink({ path, label, Icon }: NavigationEntry) {
  const [location] = useLocation();
  const isHere = entryOf(location)?.path === path;
  return (
    <Link
      href={path}
      aria-current={isHere ? "page" : undefined}
      className="relative flex items-center gap-2.5 rounded-round px-2 py-1.5 text-rail-ink outline-offset-0 transition-colors hover:bg-rail-hover focus-visible:outline-rail-ink aria-[current]:bg-rail-hover aria-[current]:font-medium aria-[current]:text-white aria-[current]:before:absolute aria-[current]:before:inset-y-1.5 aria-[current]:before:-left-3 aria-[current]:before:w-0.5 aria-[current]:before:bg-[#58bbd8]"
    >
      <Icon className="size-4 shrink-0" aria-hidden="true" />
      {t(label)}
    </Link>
  );
}

/** The entry whose page this is: the longest path that the address is or lies below. Agents are below the home page. */
const entryOf = (location: string): NavigationEntry | undefined =>
  [...MAIN_ENTRIES, ...ADMIN_ENTRIES]
    .filter(({ path }) => location === path || location.startsWith(path === "/" ? "/agents" : `${path}/`))
    .sort((a, b) => b.path.length - a.path.length)[0];

/** Shown for an address without a page. */
export const NotFound = () => (
  <CenteredNote title={t("There is no such page")}>
    <p>{t("Check the address, or go on from the list of your agents.")}</p>
    <Link href="/" className="text-sea underline">
      {t("Your agents")}
    </Link>
  </CenteredNote>
);
