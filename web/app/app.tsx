// Chooses the page of the address and shows it in the shell, once the account is known.

import { useEffect } from "react";
import { matchRoute, Route, Switch, useLocation, useRouter } from "wouter";
import { ApiError } from "../api/errors.ts";
import { useLive } from "../api/events.ts";
import { signInAgain } from "../api/session-end.ts";
import { useChangesOfOtherTabs } from "../api/tabs.ts";
import { useReloadAfterUpdate } from "../api/update.ts";
import { ErrorPage } from "../parts/error-note.tsx";
import { useCodeOf } from "../parts/lazy.tsx";
import { PageSkeleton } from "../parts/skeleton.tsx";
import { Toasts } from "../parts/toast.tsx";
import { USER_KEY, UserProvider, useUser, useUserQuery } from "../session/session.tsx";
import { SignedOut } from "../session/signed-out.tsx";
import { useFocusKept } from "../viewer/focus.ts";
import { PAGES, type Page } from "./routes.ts";
import { NotFound, Shell } from "./shell.tsx";

export function App() {
  const { data: user, error, refetch } = useUserQuery();
  useLive(USER_KEY, ["user.updated", "user.frozen", "user.unfrozen"]);
  useChangesOfOtherTabs();
  useFocusKept();
  useReloadAfterUpdate();
  useCodeOfPage();
  const isVisitor = !user && error instanceof ApiError && error.status === 401;
  useEffect(() => {
    if (isVisitor) signInAgain();
  }, [isVisitor]);
  if (!user) {
    return (
      <main>{error && !isVisitor ? <ErrorPage error={error} onRetry={() => void refetch()} /> : <PageSkeleton />}</main>
    );
  }
  return (
    <UserProvider user={user}>
      <Switch>
        {toRoutes(PAGES.filter(({ bare }) => bare))}
        <Route>
          <Shell>
            <Switch>
              {toRoutes(PAGES.filter(({ bare }) => !bare))}
              <Route>
                <NotFound />
              </Route>
            </Switch>
          </Shell>
        </Route>
      </Switch>
      <Toasts />
      <SignedOut />
    </UserProvider>
  );
}

/** Loads the code of the address's page while the account is still asked for. */
function useCodeOfPage(): void {
  const { parser } = useRouter();
  const [location] = useLocation();
  useCodeOf(PAGES.find(({ path }) => matchRoute(parser, path, location)[0])?.Component);
}

const toRoutes = (pages: readonly Page[]) =>
  pages.map((page) => (
    <Route key={page.path} path={page.path}>
      <Guarded page={page} />
    </Route>
  ));

function Guarded({ page: { Component, admin } }: { page: Page }) {
  const { isAdmin } = useUser();
  return admin && !isAdmin ? <NotFound /> : <Component />;
}
