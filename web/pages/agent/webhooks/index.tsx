// The webhooks that hear of the agent. The page is made of the webhooks' own parts, which are loaded with it.

import { lazy } from "react";
import { loadTexts } from "../../../app/language.ts";
import { useAgent } from "../agent.tsx";

const AgentWebhooks = lazy(
  async () => (await Promise.all([import("../../webhooks/agent-webhooks.tsx"), loadTexts("webhooks")]))[0],
);

export default function AgentWebhooksPage() {
  const { id, name } = useAgent();
  return <AgentWebhooks agentId={id} name={name} />;
}
