// The webhooks that hear of an agent. They are the account's, and hear of its other agents, too: the API knows no narrower ones.

import { Plus } from "lucide-react";
import { Link } from "wouter";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { CopyValue } from "../../parts/values/copy-value.tsx";
import { useParameter } from "../../viewer/address.ts";
import { rich, t } from "../../viewer/language.ts";
import { NewWebhook } from "./new-webhook.tsx";
import { GROUPS, type Webhook } from "./webhook.ts";
import { useWebhooks, WebhookList } from "./webhook-list.tsx";

/** Everything but what is told of the account itself. */
const ABOUT_AGENTS = GROUPS.map(({ type }) => type).filter((type) => type !== "user.*");

const hearsOfAgents = ({ types }: Webhook) => types.some((type) => !type.startsWith("user."));

export default function AgentWebhooks({ agentId, name }: { agentId: string; name: string }) {
  const [making, setMaking] = useParameter("new");
  const { webhooks, error, isPending, refetch } = useWebhooks();
  const hearing = webhooks?.filter(hearsOfAgents);
  const others = (webhooks?.length ?? 0) - (hearing?.length ?? 0);
  const button = (
    <Button look="primary" onClick={() => setMaking("1")}>
      <Plus aria-hidden="true" />
      {t("New webhook")}
    </Button>
  );
  return (
    <Section
      title={t("Webhooks")}
      hint={t("Other programs that are told what {name} does, by a request to an address of theirs.", { name })}
      actions={hearing && hearing.length > 0 && button}
    >
      <div className="flex flex-col gap-4">
        {error && !webhooks && <ErrorNote error={error} onRetry={() => void refetch()} />}
        {isPending && <Skeleton className="h-24" />}
        {hearing?.length === 0 && (
          <EmptyState title={t("No program hears of {name} yet", { name })} action={button}>
            {t("For example: note every answered message in your CRM, or ring somebody when a channel fails.")}
          </EmptyState>
        )}
        {hearing && hearing.length > 0 && <WebhookList webhooks={hearing} />}
        <p className="max-w-prose text-soft">
          {t(
            "Webhooks are your account's, and hear of all your agents. An event of this one has its id as agentId, or as id where it is about the agent itself:",
          )}
        </p>
        <div>
          <CopyValue value={agentId} label={t("Copy the id")} />
        </div>
        {others > 0 && (
          <p className="text-soft text-sm">
            {rich("Others hear only of your account. <a>See all</a>", {
              a: (words, key) => (
                <Link key={key} href="/webhooks" className="text-sea underline">
                  {words}
                </Link>
              ),
            })}
          </p>
        )}
      </div>
      {making && <NewWebhook events={ABOUT_AGENTS} onClose={() => setMaking("")} />}
    </Section>
  );
}
