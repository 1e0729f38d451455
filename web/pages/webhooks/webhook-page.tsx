// One webhook: what it gets, its switch and secret, and what was delivered.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import { api, path } from "../../api/api.ts";
import { ApiError } from "../../api/errors.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorPage, messageOf } from "../../parts/error-note.tsx";
import { Switch } from "../../parts/forms/field.tsx";
import { Page, Section } from "../../parts/page/page.tsx";
import { PageSkeleton } from "../../parts/skeleton.tsx";
import { showError, withUndo } from "../../parts/toast.tsx";
import { Notice } from "../../parts/values/status.tsx";
import { useNavigate } from "../../viewer/address.ts";
import { said, t } from "../../viewer/language.ts";
import { Deliveries } from "./deliveries.tsx";
import { SecretNote } from "./secret-note.tsx";
import { givenUpReason, REMOVED_KEY, WEBHOOKS_KEY, type Webhook } from "./webhook.ts";
import { WebhookForm } from "./webhook-form.tsx";

export default function WebhookPage() {
  const { id = "" } = useParams<{ id: string }>();
  const key = [...WEBHOOKS_KEY, id];
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: () => api.get<Webhook>(path`/api/webhooks/${id}`),
  });
  const change = useMutation({
    mutationFn: (changes: Partial<Webhook>) => api.patch<Webhook>(path`/api/webhooks/${id}`, changes),
    onSuccess: (webhook) => client.setQueryData(key, webhook),
    onSettled: () => client.invalidateQueries({ queryKey: WEBHOOKS_KEY }),
  });
  const isGone = error instanceof ApiError && error.status === 404;
  if (error && (!data || isGone)) return <ErrorPage error={error} onRetry={() => void refetch()} />;
  if (!data) return <PageSkeleton />;
  const { description, active, allEvents } = data;
  const reason = givenUpReason(data);
  return (
    <Page
      title={description || t("Webhook")}
      intro={
        <Link href="/webhooks" className="text-sea underline">
          {t("All webhooks")}
        </Link>
      }
      actions={
        <Switch
          label={active ? t("On") : t("Off")}
          isOn={active}
          disabled={change.isPending}
          onChange={(next) => change.mutate({ active: next }, { onError: (failure) => showError(messageOf(failure)) })}
        />
      }
    >
      {reason !== undefined && (
        <div className="mb-5">
          <Notice tone="bad">
            <p>{t("Berth has switched it off: {reason}", { reason: said(reason) })}</p>
            <p>{t("Mend the other side, then switch it on. Events from then on are sent.")}</p>
          </Notice>
        </div>
      )}
      {allEvents && (
        <div className="mb-5">
          <Notice>{t("You are an admin: it gets the events of all users.")}</Notice>
        </div>
      )}
      <Section title={t("What it gets")}>
        <WebhookForm webhook={data} isBusy={change.isPending} error={change.error} onSave={change.mutate} />
      </Section>
      <Deliveries webhookId={id} isActive={active} />
      <Secret webhookId={id} />
      <Removal webhook={data} />
    </Page>
  );
}

function Secret({ webhookId }: { webhookId: string }) {
  const { mutate, isPending, data, reset } = useMutation({
    mutationFn: () => api.post<{ secret: string | null }>(path`/api/webhooks/${webhookId}/rotate`, {}),
    gcTime: 0,
    onError: (error) => showError(messageOf(error)),
  });
  return (
    <Section
      title={t("Signing secret")}
      hint={t(
        "A new one is used at once. The old one signs beside it for 24 hours, so that nothing is refused meanwhile.",
      )}
      actions={
        <Button isBusy={isPending} onClick={() => mutate()}>
          {t("Make a new secret")}
        </Button>
      }
    >
      <p className="text-soft">{t("Nobody can read the present one any more.")}</p>
      {data?.secret && (
        <Dialog
          title={t("The new secret")}
          onClose={reset}
          actions={
            <Button look="primary" onClick={reset}>
              {t("I have kept the secret")}
            </Button>
          }
        >
          <SecretNote secret={data.secret} />
        </Dialog>
      )}
    </Section>
  );
}

function Removal({ webhook }: { webhook: Webhook }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isLeaving, setLeaving] = useState(false);
  const remove = () => {
    setLeaving(true);
    navigate("/webhooks");
    withUndo(
      t("The webhook is removed"),
      () => {
        const change = (update: (ids: string[]) => string[]) =>
          client.setQueryData<string[]>(REMOVED_KEY, (ids = []) => update(ids));
        change((ids) => [...ids, webhook.id]);
        return () => change((ids) => ids.filter((id) => id !== webhook.id));
      },
      () => api.delete(path`/api/webhooks/${webhook.id}`),
    );
  };
  return (
    <Button look="danger" disabled={isLeaving} onClick={remove}>
      {t("Remove the webhook")}
    </Button>
  );
}
