// A tool call that waits for the owner: what exactly will happen, and the two answers.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ShieldAlert } from "lucide-react";
import { visibleText } from "../../../../../src/kernel/util/text/visible-text.ts";
import { api, path } from "../../../../api/api.ts";
import { WARNINGS } from "../../../../data/approval.ts";
import { toolLabel } from "../../../../data/tools.ts";
import { Button } from "../../../../parts/button.tsx";
import { messageOf } from "../../../../parts/error-note.tsx";
import { showError } from "../../../../parts/toast.tsx";
import { Status } from "../../../../parts/values/status.tsx";
import { saidCall, t, text } from "../../../../viewer/language.ts";
import { type Approval, approvalsKey } from "../chat-data.ts";
import { Detail } from "./steps.tsx";

const EFFECTS = {
  read: text("It reads something. What the call says gets to whoever has it."),
  write: text("It changes something that this agent keeps."),
  spend: text("It spends money."),
  outside: text("It sends something out, or changes something outside of Berth."),
} as const;

interface Props {
  agentId: string;
  approvals: readonly Approval[];
}

export const Approvals = ({ approvals, ...rest }: Props) => (
  <>
    {approvals.map((approval) => (
      <ApprovalCard key={approval.id} approval={approval} {...rest} />
    ))}
  </>
);

function ApprovalCard({ agentId, approval }: Pick<Props, "agentId"> & { approval: Approval }) {
  const client = useQueryClient();
  const { id, summary, input, influence, status, usedAt } = approval;
  const warning = WARNINGS[influence];
  const tool = toolLabel(approval.tool);
  const decide = useMutation({
    mutationFn: (decision: "approve" | "deny") =>
      api.post<Approval>(path`/api/agents/${agentId}/approvals/${id}`, { decision }),
    onError: (error) => showError(messageOf(error)),
    onSettled: () => client.invalidateQueries({ queryKey: approvalsKey(agentId) }),
  });
  if (status !== "pending") return <Decided {...{ status, tool, usedAt }} />;
  return (
    <section
      aria-label={t("Approval for “{tool}”", { tool })}
      className="my-1 flex flex-col gap-2 rounded-large border border-warn bg-warn-wash p-3"
    >
      <p className="flex items-start gap-2 font-medium">
        <ShieldAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
        <span>
          {t("May the agent do this?")} <bdi className="block font-normal">{visibleText(saidCall(summary))}</bdi>
        </span>
      </p>
      <p className="text-sm">
        {t(EFFECTS[approval.class])} {t("The agent waits for your answer, and then goes on by itself.")}
      </p>
      {warning && <p className="text-sm">{t(warning)}</p>}
      <details className="text-sm">
        <summary>{t("Exactly what “{tool}” is called with", { tool })}</summary>
        <Detail label={t("Input")} text={JSON.stringify(input, undefined, 2)} />
      </details>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" isBusy={decide.isPending} onClick={() => decide.mutate("approve")}>
          {t("Approve once")}
        </Button>
        <Button isBusy={decide.isPending} onClick={() => decide.mutate("deny")}>
          {t("Deny")}
        </Button>
      </div>
    </section>
  );
}

function Decided({ status, tool, usedAt }: Pick<Approval, "status" | "tool" | "usedAt">) {
  if (status === "approved") {
    return (
      <p className="text-sm">
        <Status tone="good">
          {usedAt ? t("You approved “{tool}”; it ran.", { tool }) : t("You approved “{tool}”.", { tool })}
        </Status>
      </p>
    );
  }
  return (
    <p className="text-sm">
      <Status tone="idle">
        {status === "denied"
          ? t("You denied “{tool}”.", { tool })
          : t("The question about “{tool}” has expired.", { tool })}
      </Status>
    </p>
  );
}
