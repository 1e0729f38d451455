// The approvals of one agent, in the same lists as those of all agents.

import { path } from "../../../app/api.ts";
import { loadTexts } from "../../../app/language.ts";
import { lazyPart } from "../../../app/lazy.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { useAgent } from "../agent.tsx";

const ApprovalLists = lazyPart(
  async () => (await Promise.all([import("../../approvals/approval-lists.tsx"), loadTexts("approvals")]))[0],
  () => <Skeleton className="h-40" />,
);

export default function AgentApprovalsPage() {
  const { id } = useAgent();
  return <ApprovalLists url={path`/api/agents/${id}/approvals`} />;
}
