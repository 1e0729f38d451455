// Web routes that list skills with what they may do: those that every agent can have, and those of one agent.
import { Elysia, t } from "elysia";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { SkillRegistry } from "./skill-registry.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards">;
  registry: Pick<SkillRegistry, "describe">;
}

const toolClass = t.Union([t.Literal("read"), t.Literal("write"), t.Literal("spend"), t.Literal("outside")], {
  description:
    "read changes nothing, write changes the agent's data, spend moves money, outside sends to somebody or changes something elsewhere",
});
const skillItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    description: t.String(),
    category: t.String(),
    version: t.String(),
    enabled: t.Boolean({ description: "For the agent; in the catalogue, for a new agent" }),
    decidedBy: t.Union([t.Literal("owner"), t.Literal("config"), t.Literal("default")], {
      description: "What decides that: the owner's switch, the configuration, or neither",
    }),
    isReady: t.Boolean({
      description: "False if something has to be set up before its tools are offered, such as a key",
    }),
    permissions: t.Array(toolClass, { description: "The classes of its tools" }),
    source: t.String({
      description:
        "Who provides it: built-in, installed (a folder of the account), shared (a folder of the operator), or another",
    }),
    untrusted: t.Boolean({ description: "Its texts come from outside" }),
    tools: t.Array(
      t.Object({
        name: t.String(),
        description: t.String({ description: "As the model reads it" }),
        class: toolClass,
        ownerOnly: t.Boolean({ description: "Offered in the owner's conversations alone" }),
      }),
    ),
  },
  { title: "Skill" },
);
const skillList = t.Object({ skills: t.Array(skillItem), count: t.Integer() });
const tags = ["Skills"];

export const skillRoutes = ({ guards, identities, registry }: Deps) =>
  new Elysia({ name: "skills.web" })
    .use(identities.guards)
    .use(guards)
    .get("/api/skills", async ({ identity }) => toList(await registry.describe("", identity.user.id)), {
      signedIn: "read",
      response: { 200: skillList },
      detail: {
        tags,
        summary: "The catalogue of skills, with what they may do",
        description: "Built-in skills, and those that the account has installed from folders.",
      },
    })
    .get("/api/agents/:id/skills", async ({ agent }) => toList(await registry.describe(agent.id)), {
      ownAgent: { scope: "read", kind: "data" },
      response: { 200: skillList },
      detail: {
        tags,
        summary: "An agent's skills, on and off, with what they may do",
        description:
          "`decidedBy` says whether the owner's switch, the configuration or a default decides; `isReady` is false if something is missing, such as a key.",
      },
    });

const toList = <Item>(skills: Item[]) => ({ skills, count: skills.length });
