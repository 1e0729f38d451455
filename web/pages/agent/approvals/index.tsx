// The approvals of one agent, in the same lists as those of all agents.

import { lazy, Suspense } from "react";
import { path } from "../../../app/api.ts";
import { loadTexts } from "../../../app/language.ts";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { useAgent } from "../agent.tsx";

const ApprovalLists = lazy(
  async () => (await Promise.all([import("../../approvals/approval-lists.tsx"), loadTexts("approvals")]))[0],
);

export default function AgentApprovalsPage() {
  const { id } = useAgent();
  return (
    <Suspense fallback={<Skeleton className="h-40" />}>
      <ApprovalLists url={path`/api/agents/${id}/approvals`} />
    </Suspense>
  );
}
