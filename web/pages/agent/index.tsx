// The frame of an agent's pages: its name and state, the navigation, and the page of the address.

import { Route, Switch, useLocation, useParams } from "wouter";
import { ApiError } from "../../api/errors.ts";
import { NotFound } from "../../app/shell.tsx";
import { ErrorPage } from "../../parts/error-note.tsx";
import { useCodeOf } from "../../parts/lazy.tsx";
import { useTitle } from "../../parts/page/page.tsx";
import { PageSkeleton } from "../../parts/skeleton.tsx";
import { t } from "../../viewer/language.ts";
import { type Agent, AgentContext, useAgentQuery } from "./agent.tsx";
import { AgentHeader } from "./agent-header.tsx";
import { AgentNavigation, pageAt } from "./navigation.tsx";
import { AGENT_PAGES } from "./pages.ts";

export default function AgentLayout() {
  const { id = "" } = useParams<{ id: string }>();
  const { data, error, refetch } = useAgentQuery(id);
  const [location] = useLocation();
  // While the agent is still asked for.
  useCodeOf(pageAt(id, location)?.Component);
  const isGone = error instanceof ApiError && error.status === 404;
  // What was loaded stays while a refresh fails; the banner above the page tells of a lost connection.
  if (data && !isGone) return <AgentFrame agent={data.agent} />;
  if (error) return <ErrorPage error={error} onRetry={() => void refetch()} />;
  return <PageSkeleton />;
}

function AgentFrame({ agent }: { agent: Agent }) {
  const [location] = useLocation();
  const page = pageAt(agent.id, location);
  useTitle(page && page.path !== "" ? `${t(page.label)} · ${agent.name}` : agent.name);
  const isFull = page?.isFull === true;
  return (
    <AgentContext value={agent}>
      <div
        data-full={isFull || undefined}
        className={`mx-auto flex w-full flex-col md:px-8 ${isFull ? "min-h-0 flex-1" : "max-w-6xl pb-16 md:pt-2"}`}
      >
        <AgentHeader agent={agent} />
        <div className={`flex min-h-0 flex-1 flex-col md:flex-row md:gap-6 ${isFull ? "" : "md:mt-2"}`}>
          <AgentNavigation id={agent.id} />
          <div className={`flex min-h-0 min-w-0 flex-1 flex-col ${isFull ? "" : "px-4 pt-4 md:px-0 md:pt-0"}`}>
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
          </div>
        </div>
      </div>
    </AgentContext>
  );
}
