// A tool call that waits for the owner: exactly what will happen, and the decision.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../api/api.ts";
import { ApiError } from "../../api/errors.ts";
import { type Approval, CLASSES, WARNINGS } from "../../data/approval.ts";
import { Button } from "../../parts/button.tsx";
import { messageOf } from "../../parts/error-note.tsx";
import { showError, showToast } from "../../parts/toast.tsx";
import { platformName } from "../../parts/values/platform.tsx";
import { Badge } from "../../parts/values/status.tsx";
import { When } from "../../parts/values/when.tsx";
import { saidCall, t } from "../../viewer/language.ts";
import { CallInput } from "./call-input.tsx";

interface Decision {
  decision: "approve" | "deny";
  scope?: "conversation" | "always";
}

interface Props {
  approval: Approval;
  /** Where the list is of several agents: which one it is. */
  agent?: ReactNode;
}

export function ApprovalCard({ approval, agent }: Props) {
  const { id, agentId, tool, summary, input, influence, requestedAt, expiresAt, platform } = approval;
  const warning = WARNINGS[influence];
  const { label, explanation, tone } = CLASSES[approval.class];
  const client = useQueryClient();
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (decision: Decision) => api.post(path`/api/agents/${agentId}/approvals/${id}`, decision),
    onSuccess: (_, { decision }) =>
      showToast(
        decision === "approve"
          ? t("Approved. The agent goes on.")
          : t("Denied. The agent is told so, and goes on without it."),
      ),
    onError: (error) =>
      showError(
        error instanceof ApiError && error.code === "ALREADY_DECIDED"
          ? t("This was decided in the meantime, perhaps in another window.")
          : messageOf(error),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["approvals"] }),
  });
  const isBusyWith = (decision: string, scope?: string) =>
    isPending && variables.decision === decision && variables.scope === scope;
  return (
    <article className="flex flex-col gap-3 border-edge border-b py-4 first:pt-0 last:border-b-0 last:pb-0">
      <header className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
        <h3 className="min-w-0 break-words font-semibold">{visibleText(saidCall(summary))}</h3>
        <Badge tone={tone}>{t(label)}</Badge>
        <p className="w-full text-soft text-sm">
          {agent} {t(explanation)} {t("From {platform},", { platform: platformName(platform) })}{" "}
          <When at={requestedAt} />. {t("Runs out")} <When at={expiresAt} />.
        </p>
      </header>
      {warning && <p className="text-sm text-warn">{t(warning)}</p>}
      <CallInput tool={tool} input={input} />
      <footer className="flex flex-wrap gap-2">
        <Button look="primary" isBusy={isBusyWith("approve")} onClick={() => mutate({ decision: "approve" })}>
          {t("Approve once")}
        </Button>
        {approval.scopes.includes("conversation") && (
          <Button
            isBusy={isBusyWith("approve", "conversation")}
            onClick={() => mutate({ decision: "approve", scope: "conversation" })}
          >
            {t("Approve in this conversation for a day")}
          </Button>
        )}
        {approval.scopes.includes("always") && (
          <Button
            isBusy={isBusyWith("approve", "always")}
            onClick={() => mutate({ decision: "approve", scope: "always" })}
          >
            {t("Always allow")}
          </Button>
        )}
        <Button look="danger" isBusy={isBusyWith("deny")} onClick={() => mutate({ decision: "deny" })}>
          {t("Deny")}
        </Button>
      </footer>
    </article>
  );
}
