// The skill of pictures: `make_picture` pays an image model for a picture, and sends it with the reply.
//
// The tool is of the class `read`: it answers in the conversation, and spends the agent's budget as every call of a model does. The
// picture and its row in the ledger are one write under the key of the call, so a call that is repeated after a crash finds the
// picture, and neither makes nor pays for another.
import { Type as t } from "@sinclair/typebox";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import { defineTool, type Skill, toolDeclined } from "../skills/index.ts";

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "painterFor">;
}

/** Image models take up to two minutes. */
const TIMEOUT_MS = 150_000;

export function createPictureSkill({ agents, ai }: Deps): Skill {
  const tools = [
    defineTool({
      name: "make_picture",
      class: "read",
      effect: "idempotent",
      description:
        "Makes a picture with an image model and sends it to the person with your reply. Each costs money: make one, unless the person wants " +
        "more. For charts of data use run_code instead, since an image model gets numbers wrong.",
      timeoutMs: TIMEOUT_MS,
      input: t.Object({
        prompt: t.String({
          minLength: 1,
          maxLength: 4_000,
          description:
            "The whole picture in words: what is in it, style, light, colours, and any text in it in quotes.",
        }),
        caption: t.String({
          minLength: 1,
          maxLength: 300,
          description: "What it shows, in a few words, for people who can't see it.",
        }),
        shape: t.Optional(t.Union([t.Literal("square"), t.Literal("wide"), t.Literal("tall")])),
      }),
      summarize: ({ prompt }) => `Make a picture and send it: ${prompt}`,
      async execute({ prompt, caption, shape = "square" }, { agentId, inboxId, attach, signal }) {
        if (!attach) throw toolDeclined("Pictures can't be sent in this conversation.");
        const agent = await agents.find(agentId);
        const painter = agent && (await ai.painterFor(agent));
        if (!painter)
          throw toolDeclined("No model that makes pictures is set up. The owner can add a provider that has one.");
        await attach(async () => {
          const { result, payment } = await painter.paint({ turnId: inboxId, prompt, shape, signal });
          return {
            ...{ name: "picture.png", type: "image/png", bytes: result, caption },
            statements: [payment.statement()],
            onFailure: payment.record,
          };
        });
        return "The picture is sent with your reply. You can't see it: don't describe details.";
      },
    }),
  ];
  return {
    id: "pictures",
    name: "Make pictures",
    description: "Makes pictures with an image model of your provider, and sends them.",
    category: "media",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
    needs: "Pictures need a provider with a model that makes them. Add a key of one.",
    async isReady(agentId) {
      const agent = await agents.find(agentId);
      if (!agent) return false;
      // A model that must not be called for want of a price counts as none.
      return ai.painterFor(agent).then(
        (painter) => painter !== undefined,
        () => false,
      );
    },
  };
}
