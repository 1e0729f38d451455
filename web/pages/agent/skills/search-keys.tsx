// How an agent searches the web: whose access it uses, its own keys, and the searches of today.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../../api/api.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { type Text, t, text } from "../../../viewer/language.ts";
import { ProviderKey } from "./provider-keys.tsx";

interface SearchState {
  searchesToday: number;
  searchesPerDay: number;
  providers: {
    id: string;
    label: string;
    credential: string;
    needs: "key" | "address";
    from: "agent" | "operator" | null;
  }[];
}

const HOW_TO_GET: Readonly<Record<string, Text>> = {
  brave: text("Sign up at brave.com/search/api and create a key."),
  tavily: text("Sign up at tavily.com and copy the key of your account."),
  searxng: text("The address of an instance that allows the format JSON."),
};

export function SearchKeys({ agentId }: { agentId: string }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ["agent", agentId, "web-search"],
    queryFn: () => api.get<SearchState>(path`/api/agents/${agentId}/web-search`),
  });
  const onChanged = () => {
    void client.invalidateQueries({ queryKey: ["agent", agentId, "web-search"] });
    void client.invalidateQueries({ queryKey: ["agent", agentId, "skills"] });
  };
  return (
    <Section
      title={t("Web search")}
      hint={t("One of these is enough. Your own comes before the one of this server.")}
      actions={
        data && (
          <span className="text-soft text-sm">
            {t("{used} of {limit} searches today", { used: data.searchesToday, limit: data.searchesPerDay })}
          </span>
        )
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-32" />}
      <ul className="flex flex-col">
        {data?.providers.map(({ id, label, credential, needs, from }) => (
          <ProviderKey
            key={id}
            agentId={agentId}
            credential={{
              key: credential,
              label,
              configured: from === "agent",
              hint: hintOf(id, from),
              isOpen: needs === "address",
            }}
            onChanged={onChanged}
          />
        ))}
      </ul>
    </Section>
  );
}

function hintOf(id: string, from: "agent" | "operator" | null): string {
  if (from === "operator") return t("Set up for all agents of this server.");
  const how = HOW_TO_GET[id];
  return how ? t(how) : "";
}
