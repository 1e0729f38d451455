// The webhooks of the account as a list, each leading to its page.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../../api/api.ts";
import { Status } from "../../parts/values/status.tsx";
import { When } from "../../parts/values/when.tsx";
import { t } from "../../viewer/language.ts";
import { givenUpReason, REMOVED_KEY, WEBHOOKS_KEY, type Webhook } from "./webhook.ts";

/** Without those that are being removed. */
export function useWebhooks() {
  const { data, ...query } = useQuery({
    queryKey: WEBHOOKS_KEY,
    queryFn: () => api.get<{ webhooks: Webhook[] }>("/api/webhooks"),
  });
  const { data: removed } = useQuery({
    queryKey: REMOVED_KEY,
    queryFn: (): string[] => [],
    initialData: [],
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { ...query, webhooks: data?.webhooks.filter(({ id }) => !removed.includes(id)) };
}

export const WebhookList = ({ webhooks }: { webhooks: readonly Webhook[] }) => (
  <ul className="rounded-large border border-edge bg-card">
    {webhooks.map((webhook) => (
      <li key={webhook.id} className="border-edge border-b last:border-b-0">
        <Row webhook={webhook} />
      </li>
    ))}
  </ul>
);

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
