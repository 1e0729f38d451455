// Other assistants: the address under which they use this account's agents, and the apps that are connected.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import type { connectedAppList } from "../../../../plugins/mcp-server/oauth/model.ts";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { CodeBlock } from "../../../parts/text/code-block.tsx";
import { withUndo } from "../../../parts/toast.tsx";
import { CopyValue } from "../../../parts/values/copy-value.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { rich, t, text } from "../../../viewer/language.ts";

type AppList = typeof connectedAppList.static;
type App = AppList["apps"][number];

const KEY = ["connected-apps"] as const;
const SCOPE_LABELS = { read: text("reads"), write: text("changes"), chat: text("talks to agents") } as const;
const ADDRESS = `${location.origin}/mcp`;

export default function AssistantsPage() {
  return (
    <>
      <Connecting />
      <ConnectedApps />
    </>
  );
}

/** The entry of a file of settings in which editors and assistants list servers. */
const entry = (withKey: boolean) =>
  JSON.stringify(
    {
      mcpServers: {
        berth: {
          type: "http",
          url: ADDRESS,
          ...(withKey && { headers: { Authorization: "Bearer bk_…" } }),
        },
      },
    },
    null,
    2,
  );

function Connecting() {
  const [way, setWay] = useParameter("way");
  return (
    <Section
      title={t("Connect an assistant")}
      hint={t(
        "A desktop assistant or an editor can ask your agents, read conversations, teach facts and plan work. It needs to speak MCP.",
      )}
    >
      <ol className="flex max-w-prose list-decimal flex-col gap-4 pl-5">
        <li>
          <p className="mb-1.5">{t("In the assistant, add a connector or an MCP server with this address:")}</p>
          <CopyValue value={ADDRESS} label={t("Copy the address")} />
        </li>
        <li>
          <p>{t("It opens Berth in your browser. There you decide what it may do.")}</p>
        </li>
      </ol>
      <h3 className="mt-6 mb-2 font-medium">{t("With a file of settings")}</h3>
      <Choice
        label={t("How it signs in")}
        value={way === "key" ? "key" : "browser"}
        options={[
          { value: "browser", label: t("In the browser") },
          { value: "key", label: t("With an API key") },
        ]}
        onChange={(next) => setWay(next === "key" ? "key" : "")}
      />
      <div className="mt-3">
        <CodeBlock code={entry(way === "key")} label={t("Settings of an MCP server")} />
      </div>
      {way === "key" && (
        <p className="mt-2 max-w-prose text-soft text-sm">
          {rich("Put <a>a key of yours</a> in the place of the dots. What comes with it counts as your own words.", {
            a: (words, key) => (
              <Link key={key} href="/account/keys?new=1" className="text-sea underline">
                {words}
              </Link>
            ),
          })}
        </p>
      )}
    </Section>
  );
}

function ConnectedApps() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: () => api.get<AppList>("/api/connected-apps"),
    // An app is connected in another tab.
    refetchOnWindowFocus: true,
  });
  const disconnect = ({ id, name }: App) =>
    withUndo(
      t("“{name}” is disconnected", { name }),
      () => {
        const before = queries.getQueryData<AppList>(KEY);
        queries.setQueryData<AppList>(
          KEY,
          (list) => list && { ...list, apps: list.apps.filter((app) => app.id !== id) },
        );
        return () => queries.setQueryData(KEY, before);
      },
      () => api.delete(path`/api/connected-apps/${id}`),
    );
  return (
    <Section title={t("Connected apps")} hint={t("Those that you have allowed to use your agents by a sign-in.")}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-16" />}
      {data?.apps.length === 0 && (
        <EmptyState title={t("None yet")}>{t("An app that you connect stands here, and you can end it.")}</EmptyState>
      )}
      <ul className="-my-2">
        {data?.apps.map((app) => (
          <AppRow key={app.id} app={app} onDisconnect={() => disconnect(app)} />
        ))}
      </ul>
    </Section>
  );
}

const AppRow = ({ app, onDisconnect }: { app: App; onDisconnect: () => void }) => (
  <li className="flex items-center gap-3 border-edge border-b py-2.5 last:border-b-0">
    <div className="min-w-0 flex-1">
      <p className="flex flex-wrap items-center gap-x-2">
        <span className="min-w-0 break-words font-medium">{app.name}</span>
        <span className="break-all text-soft text-sm">{app.host}</span>
        {app.trusted && <Badge>{t("your own words")}</Badge>}
      </p>
      <p className="text-soft text-sm">
        {app.scopes.map((scope) => t(SCOPE_LABELS[scope])).join(", ")}
        {" · "}
        {app.lastUsedAt ? (
          <>
            {t("last used")} <When at={app.lastUsedAt} />
          </>
        ) : (
          t("never used")
        )}
      </p>
    </div>
    <Button onClick={onDisconnect} aria-label={t("Disconnect {name}", { name: app.name })}>
      {t("Disconnect")}
    </Button>
  </li>
);
