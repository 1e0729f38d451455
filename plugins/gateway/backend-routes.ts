// Backend routes that show and replace an agent's gateway token.
import { Elysia } from "elysia";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { withFailureBody } from "../lifecycle/index.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import { gatewayToken } from "./model.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "log">;
  tokens: GatewayTokens;
}

export function backendRoutes({ agents, tokens }: Deps) {
  const tags = ["Gateway"];
  return new Elysia({ name: "gateway.backend" })
    .use(agents.guards)
    .get(
      "/api/agents/:id/token",
      ({ agent, set }) => {
        set.headers["cache-control"] = "no-store";
        return withFailureBody(async () => ({ token: await tokens.getOrCreate(agent.id) }));
      },
      {
        // The token is a credential: an API key with the scope `read` alone must not see it.
        agentCall: { action: "agent.token", kind: "lifecycle", scope: "write" },
        response: { 200: gatewayToken },
        detail: {
          tags,
          summary: "Show an agent's gateway token; created when there is none",
          description: "With the token, programs open the agent's gateway without an account; see `GET /agent/{id}`.",
        },
      },
    )
    .post(
      "/api/agents/:id/token/rotate",
      ({ agent: { id }, set }) => {
        set.headers["cache-control"] = "no-store";
        return withFailureBody(async () => {
          const token = await tokens.rotate(id);
          agents.log(id, "info", "The gateway token was replaced.", "gateway");
          return { token };
        });
      },
      {
        agentCall: { action: "agent.rotate-token", kind: "lifecycle" },
        response: { 200: gatewayToken },
        detail: {
          tags,
          summary: "Replace an agent's gateway token; sockets that used the old one are closed",
          description: "The old token stops working at once.",
        },
      },
    );
}
