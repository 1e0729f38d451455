// The requests that wait, and those that were decided: of one agent, or of all.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import { api } from "../../api/api.ts";
import { useLive } from "../../api/events.ts";
import { type Approval, OUTCOMES } from "../../data/approval.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Choice } from "../../parts/forms/choice.tsx";
import { Rows } from "../../parts/lists/rows.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Status } from "../../parts/values/status.tsx";
import { When } from "../../parts/values/when.tsx";
import { useParameter } from "../../viewer/address.ts";
import { saidCall, t, tn } from "../../viewer/language.ts";
import { ApprovalCard } from "./approval-card.tsx";

interface Props {
  /** The list's address. */
  url: string;
  /** Names the agent of a request, where the list has several. */
  agentOf?: (agentId: string) => ReactNode;
}

const PAGE = 50;
const KEY = ["approvals"] as const;

export default function ApprovalLists({ url, agentOf }: Props) {
  const [shown, setShown] = useParameter("show");
  const waiting = useQuery({
    queryKey: [...KEY, url, "pending"],
    queryFn: () => api.get<{ approvals: Approval[] }>(url, { status: "pending", limit: 100 }),
  });
  useLive(KEY, ["approval."]);
  const count = waiting.data?.approvals.length;
  return (
    <Section
      title={t("Approvals")}
      hint={t(
        "Before it pays or reaches out, and whenever it acts on words that are not yours, the agent asks and waits.",
      )}
      actions={
        <Choice
          label={t("Which approvals")}
          value={shown === "decided" ? "decided" : "waiting"}
          onChange={(value) => setShown(value === "decided" ? value : "")}
          options={[
            { value: "waiting", label: count ? tn("{n} waits", "{n} wait", count) : t("Waiting") },
            { value: "decided", label: t("Decided") },
          ]}
        />
      }
    >
      {shown === "decided" ? (
        <Decided {...{ url, agentOf }} />
      ) : (
        <>
          {waiting.error && <ErrorNote error={waiting.error} onRetry={() => void waiting.refetch()} />}
          {waiting.isPending && <Skeleton className="h-32 w-full" />}
          {count === 0 && <NothingWaits />}
          <div aria-live="polite">
            {waiting.data?.approvals.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} agent={agentOf?.(approval.agentId)} />
            ))}
          </div>
        </>
      )}
    </Section>
  );
}

const NothingWaits = () => (
  <EmptyState title={t("Nothing waits for you")}>
    {t(
      "When an agent wants to pay or send something, or to change something because of a text that is not yours, such as a web page or a forwarded message, it asks here, and waits for your answer.",
    )}
  </EmptyState>
);

function Decided({ url, agentOf }: Pick<Props, "url"> & { agentOf: Props["agentOf"] | undefined }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...KEY, url, "all"],
    queryFn: ({ pageParam }) => api.get<{ approvals: Approval[] }>(url, { limit: PAGE, offset: pageParam }),
    initialPageParam: 0,
    getNextPageParam: ({ approvals }, pages) => (approvals.length === PAGE ? pages.length * PAGE : undefined),
  });
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Skeleton className="h-32 w-full" />;
  const decided = data.pages.flatMap(({ approvals }) => approvals).filter(({ status }) => status !== "pending");
  if (decided.length === 0 && !hasNextPage) {
    return <EmptyState title={t("Nothing was decided yet")}>{t("Decisions are kept for 30 days.")}</EmptyState>;
  }
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="w-full">
        <Rows
          label={t("Decided")}
          rows={decided}
          keyOf={({ id }) => id}
          columns="md:grid-cols-[9rem_minmax(0,1fr)_8rem] md:items-start"
        >
          {(approval) => (
            <>
              <Outcome approval={approval} />
              <div className="min-w-0 break-words">
                {visibleText(saidCall(approval.summary))}
                <p className="text-soft text-sm">
                  {agentOf?.(approval.agentId)} {approval.tool}
                </p>
              </div>
              <span className="text-soft md:text-right">
                <When at={approval.decidedAt ?? approval.expiresAt} />
              </span>
            </>
          )}
        </Rows>
      </div>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t("Show older ones")}
        </Button>
      )}
    </div>
  );
}

function Outcome({ approval: { status, scope, usedAt } }: { approval: Approval }) {
  const { label, tone } = OUTCOMES[status];
  return (
    <div className="whitespace-nowrap">
      <Status tone={tone}>{t(label)}</Status>
      {status === "approved" && (
        <p className="text-soft text-sm">
          {scope === "conversation"
            ? t("for the conversation")
            : scope === "always"
              ? t("from now on")
              : usedAt
                ? t("and it ran")
                : t("has not run yet")}
        </p>
      )}
    </div>
  );
}
