// The webhooks of the account.

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { Link } from "wouter";
import { useParameter } from "../../app/address.ts";
import { api } from "../../app/api.ts";
import { t } from "../../app/language.ts";
import { Button } from "../../parts/button.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Page } from "../../parts/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Status } from "../../parts/status.tsx";
import { When } from "../../parts/when.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { givenUpReason, REMOVED_KEY, WEBHOOKS_KEY, type Webhook } from "./webhook.ts";

export default function WebhooksPage() {
  const [making, setMaking] = useParameter("new");
  const { data, error, isPending, refetch } = useQuery({
    queryKey: WEBHOOKS_KEY,
    queryFn: () => api.get<{ webhooks: Webhook[] }>("/api/webhooks"),
  });
  const { data: removed } = useQuery({
    queryKey: REMOVED_KEY,
    queryFn: (): string[] => [],
    initialData: [],
    staleTime: Number.POSITIVE_INFINITY,
  });
  const webhooks = data?.webhooks.filter(({ id }) => !removed.includes(id));
  const button = (
    <Button look="primary" onClick={() => setMaking("1")}>
      <Plus aria-hidden="true" />
      {t("New webhook")}
    </Button>
  );
  const isEmpty = webhooks?.length === 0;
  return (
    <Page
      title={t("Webhooks")}
      intro={t("Berth tells other programs what happens, by a request to an address of theirs.")}
      actions={!isEmpty && button}
    >
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-32" />}
      {isEmpty && (
        <EmptyState title={t("No webhook yet")} action={button}>
          {t(
            "For example: note every answered message in your CRM, ring somebody when a channel fails, or post to a team chat when a budget is used up. Each request is signed, so that the other side knows it is from here.",
          )}
        </EmptyState>
      )}
      {webhooks && !isEmpty && (
        <ul className="rounded-large border border-edge bg-card">
          {webhooks.map((webhook) => (
            <li key={webhook.id} className="border-edge border-b last:border-b-0">
              <Row webhook={webhook} />
            </li>
          ))}
        </ul>
      )}
      {making && <NewWebhook onClose={() => setMaking("")} />}
    </Page>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const { id, url, description, types, active, createdAt } = webhook;
  const wasGivenUp = givenUpReason(webhook) !== undefined;
  return (
    <Link
      href={`/webhooks/${id}`}
      className="flex flex-wrap items-center gap-x-4 gap-y-1 rounded-large px-4 py-3 hover:bg-hover"
    >
      <span className="min-w-0 flex-1 basis-64">
        <span className="block wrap-anywhere font-medium">{description || url}</span>
        {description && <span className="block wrap-anywhere text-soft text-sm">{url}</span>}
        <span className="block break-words text-soft text-sm">
          {types.includes("*") ? t("All events") : types.join(", ")}
        </span>
      </span>
      <span className="flex flex-col text-sm">
        {active ? (
          <Status tone="good">{t("On")}</Status>
        ) : (
          <Status tone={wasGivenUp ? "bad" : "idle"}>{wasGivenUp ? t("Switched off by Berth") : t("Off")}</Status>
        )}
        <span className="text-soft">
          {t("made")} <When at={createdAt} />
        </span>
      </span>
    </Link>
  );
}
