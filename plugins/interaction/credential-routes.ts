// The web route that lists which keys of AI providers an agent has, with the providers' names; never a key.
import { Elysia, t } from "elysia";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { providerSettings } from "../ai/settings.ts";

interface Deps {
  config: Kernel["config"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "credentials">;
}

const credentialList = t.Object({
  credentials: t.Array(
    t.Object({
      key: t.String({ description: "For the action `set-credential` of POST /api/agent" }),
      label: t.String({ description: "The provider's name" }),
      configured: t.Boolean({ description: "The agent, or its owner for all their agents, has a key" }),
    }),
  ),
  count: t.Integer(),
});

export function credentialRoutes({ config, agents }: Deps) {
  const providers = config.of(providerSettings).registry.all.filter(({ credential }) => credential.required);
  return new Elysia({ name: "interaction.credentials" }).use(agents.guards).get(
    "/api/agents/:id/credentials",
    async ({ agent }) => {
      const configured = await agents.credentials.summary(agent.id);
      const credentials = providers.map(({ id, label }) => ({ key: id, label, configured: configured[id] ?? false }));
      return { credentials, count: credentials.length };
    },
    {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: credentialList },
      detail: {
        tags: ["Agents"],
        summary: "Which keys of AI providers an agent has",
        description: "Whether each key is stored. The keys themselves are never shown.",
      },
    },
  );
}
