// The webhooks that hear of the agent. The page is made of the webhooks' own parts, which are loaded with it.

import { lazyPart } from "../../../parts/lazy.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { loadTexts } from "../../../viewer/language.ts";
import { useAgent } from "../agent.tsx";

const AgentWebhooks = lazyPart(
  async () => (await Promise.all([import("../../webhooks/agent-webhooks.tsx"), loadTexts("webhooks")]))[0],
  () => <Skeleton className="h-44" />,
);

export default function AgentWebhooksPage() {
  const { id, name } = useAgent();
  return <AgentWebhooks agentId={id} name={name} />;
}
