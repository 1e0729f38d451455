// Backend routes that change an agent's skills and credentials.
import { Elysia, t } from "elysia";
import { isChannelId } from "../../channels/registry.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents } from "../agents/index.ts";
import { CONNECT_ERRORS, type channels } from "../channels/index.ts";
import type { skills } from "../skills/index.ts";

interface Deps {
  agents: ServiceOf<typeof agents>;
  skills: ServiceOf<typeof skills>;
  channels: ServiceOf<typeof channels>;
}

export function backendRoutes({ agents, skills, channels }: Deps) {
  const tags = ["Agents"];
  return new Elysia({ name: "interaction.backend" })
    .use(agents.guards)
    .put(
      "/api/agents/:id/skills/:skillId",
      async ({ agent, params, body }) => {
        const { id, name, enabled } = await skills.setEnabled(agent.id, params.skillId, body.enabled);
        if (enabled) agents.log(agent.id, "info", `The skill ${name} was switched on.`, "skills", { skill: id });
        else agents.log(agent.id, "info", `The skill ${name} was switched off.`, "skills", { skill: id });
        return { success: true, skillId: id, enabled };
      },
      {
        agentCall: { action: "agent.skill", changes: true },
        body: t.Object({ enabled: t.Boolean({ error: "Give true or false." }) }),
        response: { 200: t.Object({ success: t.Boolean(), skillId: t.String(), enabled: t.Boolean() }) },
        detail: {
          tags,
          summary: "Switch a skill on or off",
          description: "The owner's switch decides over the configuration.",
          ...documentErrors({ 404: "UNKNOWN_SKILL" }),
        },
      },
    )
    .put(
      "/api/agents/:id/credentials/:key",
      async ({ agent, caller, params: { key }, body: { value } }) => {
        // A channel's credential connects the channel, which checks it with the platform before it is stored.
        if (isChannelId(key)) {
          if (value.trim() === "") await channels.disconnect(agent.id, key);
          else await channels.connect(caller, agent.id, key, { token: value });
          return { success: true, key, configured: value.trim() !== "" };
        }
        const configured = await agents.credentials.set({ kind: "agent", id: agent.id }, key, value);
        return { success: true, key, configured };
      },
      {
        agentCall: { action: "agent.credential", changes: true },
        body: t.Object({ value: t.String({ maxLength: 8_192, error: "A credential is text." }) }),
        response: { 200: t.Object({ success: t.Boolean(), key: t.String(), configured: t.Boolean() }) },
        detail: {
          tags,
          summary: "Store or clear a credential; channel tokens connect the channel",
          description: "An empty `value` clears it. Values are sealed before they are stored, and never shown.",
          ...documentErrors(CONNECT_ERRORS),
        },
      },
    );
}
