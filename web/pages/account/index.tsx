// The frame of the account's pages: who is signed in, the navigation, and the page of the address.

import { LogOut } from "lucide-react";
import { Link, Route, Switch, useLocation } from "wouter";
import { NotFound } from "../../app/shell.tsx";
import { Button } from "../../parts/button.tsx";
import { bringIntoView } from "../../parts/lists/bring-into-view.ts";
import { Page } from "../../parts/page/page.tsx";
import { useUser } from "../../session/session.tsx";
import { signOut } from "../../session/sign-out.ts";
import { t } from "../../viewer/language.ts";
import { ACCOUNT_PAGES } from "./pages.ts";

const BASE = "/account";

export default function AccountLayout() {
  const { email } = useUser();
  const [location] = useLocation();
  const isKnown = ACCOUNT_PAGES.some(({ path }) => location === BASE + path);
  if (!isKnown) return <NotFound />;
  return (
    <Page
      title={t("Account")}
      intro={email}
      actions={
        <Button onClick={() => void signOut()}>
          <LogOut aria-hidden="true" />
          {t("Sign out")}
        </Button>
      }
    >
      <div className="gap-8 lg:grid lg:grid-cols-[12rem_minmax(0,46rem)]">
        <AccountNavigation location={location} />
        <div>
          <Switch>
            {ACCOUNT_PAGES.map(({ path, Component }) => (
              <Route key={path} path={BASE + path}>
                <Component />
              </Route>
            ))}
          </Switch>
        </div>
      </div>
    </Page>
  );
}

/** Beside the page where there is room, else above it, in a row that may be wider than the screen. */
const AccountNavigation = ({ location }: { location: string }) => (
  <nav
    aria-label={t("Pages of your account")}
    className="mb-4 flex gap-1 overflow-x-auto border-edge border-b lg:mb-0 lg:flex-col lg:gap-0.5 lg:self-start lg:border-b-0"
  >
    {ACCOUNT_PAGES.map(({ path, label, Icon }) => (
      <Link
        key={path}
        href={BASE + path}
        ref={location === BASE + path ? bringIntoView : undefined}
        onFocus={({ currentTarget }) => bringIntoView(currentTarget)}
        aria-current={location === BASE + path ? "page" : undefined}
        className="-outline-offset-2 flex items-center gap-2 whitespace-nowrap border-transparent border-b-2 px-2 py-1.5 text-soft hover:text-ink aria-[current]:border-sea aria-[current]:font-medium aria-[current]:text-ink lg:rounded-round lg:border-b-0 lg:hover:bg-hover lg:aria-[current]:bg-wash lg:aria-[current]:text-sea"
      >
        <Icon className="size-4 shrink-0 max-lg:hidden" aria-hidden="true" />
        {t(label)}
      </Link>
    ))}
  </nav>
);
