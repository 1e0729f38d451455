// The webhooks of the account.

import { Plus } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Page } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { useParameter } from "../../viewer/address.ts";
import { t } from "../../viewer/language.ts";
import { NewWebhook } from "./new-webhook.tsx";
import { useWebhooks, WebhookList } from "./webhook-list.tsx";

export default function WebhooksPage() {
  const [making, setMaking] = useParameter("new");
  const { webhooks, error, isPending, refetch } = useWebhooks();
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
      {webhooks && !isEmpty && <WebhookList webhooks={webhooks} />}
      {making && <NewWebhook onClose={() => setMaking("")} />}
    </Page>
  );
}
