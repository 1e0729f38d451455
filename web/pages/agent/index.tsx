// The frame of an agent's pages: its name and state, the navigation, and the page of the address.

import { Suspense } from "react";
import { Link, Route, Switch, useLocation, useParams } from "wouter";
import { t } from "../../app/language.ts";
import { NotFound } from "../../app/shell.tsx";
import { ErrorPage } from "../../parts/error-note.tsx";
import { Page } from "../../parts/page.tsx";
import { PageSkeleton, Skeleton } from "../../parts/skeleton.tsx";
import { AgentContext, useAgentQuery } from "./agent.tsx";
import { AGENT_PAGES } from "./pages.ts";

export default function AgentLayout() {
  const { id = "" } = useParams<{ id: string }>();
  const { data, error, refetch } = useAgentQuery(id);
  const [location] = useLocation();
  if (error) return <ErrorPage error={error} onRetry={() => void refetch()} />;
  if (!data) return <PageSkeleton />;
  const base = `/agents/${id}`;
  return (
    <AgentContext value={data.agent}>
      <Page title={data.agent.name}>
        <nav aria-label={t("Pages of this agent")} className="mb-4 flex gap-1 overflow-x-auto border-edge border-b">
          {AGENT_PAGES.map(({ path, label }) => {
            const href = base + path.replace(/\/:.*/, "");
            const isHere = path === "" ? location === base : location.startsWith(href);
            return (
              <Link
                key={path}
                href={href}
                aria-current={isHere ? "page" : undefined}
                className="whitespace-nowrap border-transparent border-b-2 px-2 py-1.5 text-soft hover:text-ink aria-[current]:border-sea aria-[current]:font-medium aria-[current]:text-ink"
              >
                {t(label)}
              </Link>
            );
          })}
        </nav>
        <Suspense fallback={<Skeleton className="h-40" />}>
          <Switch>
            {AGENT_PAGES.map(({ path, Component }) => (
              <Route key={path} path={`/agents/:id${path}`}>
                <Component />
              </Route>
            ))}
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </Page>
    </AgentContext>
  );
}
