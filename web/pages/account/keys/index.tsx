// The API keys: what each may do, when it was used, a new one, revoking one.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, path } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { withUndo } from "../../../parts/toast.tsx";
import { Badge } from "../../../parts/values/status.tsx";
import { When } from "../../../parts/values/when.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatTime, rich, t, text } from "../../../viewer/language.ts";
import { NewKeyDialog } from "./new-key-dialog.tsx";

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  scopes: ("read" | "write" | "chat")[];
  expiresAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
}

interface KeyList {
  keys: ApiKey[];
  count: number;
}

const KEY = ["api-keys"] as const;

const SCOPE_LABELS = { read: text("reads"), write: text("changes"), chat: text("talks to agents") } as const;

export default function KeysPage() {
  const queries = useQueryClient();
  const [making, setMaking] = useParameter("new");
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: () => api.get<KeyList>("/api/keys") });
  const close = () => {
    setMaking("");
    void queries.invalidateQueries({ queryKey: KEY });
  };
  const revoke = ({ id, name }: ApiKey) =>
    withUndo(
      t("The key “{name}” is revoked", { name }),
      () => {
        const before = queries.getQueryData<KeyList>(KEY);
        queries.setQueryData<KeyList>(
          KEY,
          (list) => list && { ...list, keys: list.keys.filter((key) => key.id !== id) },
        );
        return () => queries.setQueryData(KEY, before);
      },
      () => api.delete(path`/api/keys/${id}`),
    );
  return (
    <Section
      title={t("API keys")}
      hint={t(
        "With a key, programs do what you do here, within the key's rights. They can't change the security of your account.",
      )}
      actions={
        <Button look="primary" onClick={() => setMaking("1")}>
          {t("New key…")}
        </Button>
      }
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data?.keys.length === 0 && (
        <EmptyState title={t("No key yet")}>
          {t(
            "Make one for each program, so that you can revoke one without the others. Every page's </> shows the requests that a key can make.",
          )}
        </EmptyState>
      )}
      <ul className="-my-2">
        {data?.keys.map((key) => (
          <KeyRow key={key.id} apiKey={key} onRevoke={() => revoke(key)} />
        ))}
      </ul>
      <p className="mt-4 text-soft text-sm">
        {rich("Apps that you have connected by a sign-in are under <a>Assistants</a>.", {
          a: (words, key) => (
            <Link key={key} href="/account/assistants" className="text-sea underline">
              {words}
            </Link>
          ),
        })}
      </p>
      {making && <NewKeyDialog onClose={close} />}
    </Section>
  );
}

function KeyRow({ apiKey, onRevoke }: { apiKey: ApiKey; onRevoke: () => void }) {
  const { name, prefix, scopes, expiresAt, lastUsedAt } = apiKey;
  return (
    <li className="flex items-center gap-3 border-edge border-b py-2.5 last:border-b-0">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium">{name}</span>
          <code className="font-mono text-soft text-sm">{prefix}…</code>
          <Expiry expiresAt={expiresAt} />
        </p>
        <p className="text-soft text-sm">
          {scopes.map((scope) => t(SCOPE_LABELS[scope])).join(", ")}
          {" · "}
          {lastUsedAt ? (
            <>
              {t("last used")} <When at={lastUsedAt} />
            </>
          ) : (
            t("never used")
          )}
        </p>
      </div>
      <Button onClick={onRevoke} aria-label={t("Revoke {name}", { name })}>
        {t("Revoke")}
      </Button>
    </li>
  );
}

function Expiry({ expiresAt }: { expiresAt: string | null }) {
  if (expiresAt === null) return null;
  const time = Date.parse(expiresAt);
  if (time <= Date.now()) return <Badge tone="bad">{t("expired")}</Badge>;
  return <Badge>{t("until {date}", { date: formatTime(time, { dateStyle: "medium" }) })}</Badge>;
}
