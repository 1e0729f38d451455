// The approvals of one agent, in the same lists as those of all agents.

import { path } from "../../../api/api.ts";
import { lazyPart } from "../../../parts/lazy.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { loadTexts } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";

const ApprovalLists = lazyPart(
  async () => (await Promise.all([import("../../approvals/approval-lists.tsx"), loadTexts("approvals")]))[0],
  () => <Skeleton className="h-40" />,
);

export default function AgentApprovalsPage() {
  const { id } = useAgent();
  return <ApprovalLists url={path`/api/agents/${id}/approvals`} />;
}
