// What was sent to a webhook, what the other side answered, and sending it again.

import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { api, path } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote, messageOf } from "../../parts/error-note.tsx";
import { MoreButton } from "../../parts/lists/more-button.tsx";
import { Rows } from "../../parts/lists/rows.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { Status } from "../../parts/values/status.tsx";
import { When } from "../../parts/values/when.tsx";
import { said, t, tn } from "../../viewer/language.ts";
import { type Delivery, STATES, WEBHOOKS_KEY } from "./webhook.ts";

const PAGE = 50;
const POLL_MS = 4_000;
/** The beginning of any type: each event may be a delivery. */
const ALL_EVENTS = [""] as const;

export function Deliveries({ webhookId, isActive }: { webhookId: string; isActive: boolean }) {
  const key = [...WEBHOOKS_KEY, webhookId, "deliveries"];
  const url = path`/api/webhooks/${webhookId}/deliveries`;
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => api.get<{ deliveries: Delivery[] }>(url, { limit: PAGE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ deliveries }, pages) => (deliveries.length === PAGE ? pages.length * PAGE : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ deliveries }) => deliveries.some(({ status }) => status === "pending"))
        ? POLL_MS
        : false,
  });
  useLive(key, ALL_EVENTS);
  const deliveries = data?.pages.flatMap((page) => page.deliveries) ?? [];
  return (
    <Section title={t("Deliveries")} hint={t("Kept for 30 days. What is not taken is tried again for a day and more.")}>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-24" />}
      {data && deliveries.length === 0 && (
        <EmptyState title={t("Nothing was sent yet")}>
          {t("The next event of these types is sent at once. Start or stop an agent to see one.")}
        </EmptyState>
      )}
      {deliveries.length > 0 && (
        <Rows
          label={t("Deliveries")}
          rows={deliveries}
          keyOf={({ id }) => id}
          columns="md:grid-cols-[7rem_10rem_minmax(0,1fr)_auto]"
        >
          {(delivery) => (
            <>
              <span className="text-soft">
                <When at={delivery.createdAt} />
              </span>
              <span className="font-mono text-sm">{delivery.type}</span>
              <State delivery={delivery} />
              <Replay {...{ webhookId, delivery, isActive }} />
            </>
          )}
        </Rows>
      )}
      <MoreButton label={t("Show older ones")} query={{ hasNextPage, isFetchingNextPage, fetchNextPage }} />
    </Section>
  );
}

function State({ delivery }: { delivery: Delivery }) {
  const { status, attempts, lastStatus, lastError, nextAttemptAt } = delivery;
  const { label, tone } = STATES[status];
  return (
    <div>
      <Status tone={tone}>{t(label)}</Status>
      <p className="max-w-md break-words text-soft text-sm">
        {tn("{n} attempt", "{n} attempts", attempts)}
        {lastError
          ? `: ${said(lastError)}`
          : lastStatus !== null && `, ${t("answer {status}", { status: lastStatus })}`}
        {nextAttemptAt && (
          <>
            {" "}
            {t("Next")} <When at={nextAttemptAt} />
          </>
        )}
      </p>
    </div>
  );
}

interface ReplayProps {
  webhookId: string;
  delivery: Delivery;
  isActive: boolean;
}

function Replay({ webhookId, delivery: { id, status }, isActive }: ReplayProps) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.post(path`/api/webhooks/${webhookId}/deliveries/${id}/replay`, {}),
    onSuccess: () => showToast(t("It is sent again.")),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: [...WEBHOOKS_KEY, webhookId] }),
  });
  return (
    <Button isBusy={isPending} disabled={!isActive || status === "pending"} onClick={() => mutate()}>
      <RotateCw aria-hidden="true" />
      {t("Send again")}
    </Button>
  );
}
