// The tools that talk to agents: one for each agent, one for those beyond, and one for replies that take longer.
import { fromJsonSchema, type McpServer, type ToolAnnotations } from "@modelcontextprotocol/server";
import { type Static, Type } from "@sinclair/typebox";
import type { Agent } from "../../agents/index.ts";
import type { AgentLookup, ListedAgent } from "./agent-lookup.ts";
import { toolNameOf } from "./names.ts";
import { schemaOf } from "./schemas.ts";
import { type Run, type ToolCall, texts } from "./tool.ts";
import type { TurnProgress, Turns } from "./turns.ts";

const message = Type.String({ minLength: 1, maxLength: 100_000, description: "What you tell or ask the agent" });
const conversation = Type.Optional(
  Type.String({
    maxLength: 64,
    description: "The id of the conversation to go on with, from an earlier answer. Left out: a new one",
  }),
);
const agent = Type.String({ maxLength: 100, description: "The agent's address or id, as list_agents shows it" });

const askInput = Type.Object({ message, conversation });
const askAnyInput = Type.Object({ agent, message, conversation });
const replyInput = Type.Object({
  agent,
  turn: Type.String({
    maxLength: 64,
    description: "The id of the turn, from the answer that said the agent still works",
  }),
});
// Made once: each would be compiled again for each request.
const askSchema = fromJsonSchema<Static<typeof askInput>>(schemaOf(askInput));
const askAnySchema = fromJsonSchema<Static<typeof askAnyInput>>(schemaOf(askAnyInput));
const replySchema = fromJsonSchema<Static<typeof replyInput>>(schemaOf(replyInput));

/** An agent may forget what it knew, and use tools that reach other services. */
const ASKING: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

interface Deps {
  lookup: AgentLookup;
  turns: Turns;
}

export function createAskingTools({ lookup, turns }: Deps) {
  async function ask(call: ToolCall, to: Agent, input: Static<typeof askInput>) {
    const { turnId, conversationId } = await turns.send(call.caller, to, input.message, input.conversation);
    try {
      const found = await turns.follow(call.caller, to, turnId, call.signal, call.progress);
      return answerOf(to, { turnId, conversationId }, found);
    } catch (error) {
      // The client does not want the reply any more. It may have come in the meantime.
      if (call.signal.aborted) await turns.cancel(call.caller, to, turnId).catch(() => undefined);
      throw error;
    }
  }

  function register(server: McpServer, run: Run, agents: readonly ListedAgent[], total: number): void {
    for (const { id, name, subdomain } of agents) {
      server.registerTool(
        toolNameOf(subdomain),
        {
          title: `Ask ${name}`,
          description: `Sends a message to the agent "${name}" and returns its reply. ${LONG_REPLIES}`,
          inputSchema: askSchema,
          annotations: ASKING,
        },
        run(toolNameOf(subdomain), async (input: Static<typeof askInput>, call) =>
          ask(call, await lookup.require(call.caller, id), input),
        ),
      );
    }
    if (total > agents.length) {
      server.registerTool(
        "ask_agent",
        {
          title: "Ask any agent",
          description: `Sends a message to one of your agents and returns its reply. ${LONG_REPLIES}`,
          inputSchema: askAnySchema,
          annotations: ASKING,
        },
        run("ask_agent", async (input: Static<typeof askAnyInput>, call) =>
          ask(call, await lookup.require(call.caller, input.agent), input),
        ),
      );
    }
    server.registerTool(
      "get_reply",
      {
        title: "Wait for a reply",
        description: "Returns the reply of an agent that was still working when it was asked; waits up to 45 seconds.",
        inputSchema: replySchema,
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      run("get_reply", async ({ agent: given, turn }: Static<typeof replyInput>, { caller, signal, progress }) => {
        const to = await lookup.require(caller, given);
        return answerOf(to, { turnId: turn }, await turns.follow(caller, to, turn, signal, progress));
      }),
    );
  }

  return { register };
}

const LONG_REPLIES = "A reply that takes longer than 45 seconds is fetched with get_reply.";

function answerOf(
  { subdomain }: Agent,
  { turnId, conversationId }: { turnId: string; conversationId?: string },
  { status, reply, error, approvals, conversationId: known }: TurnProgress,
) {
  const conversation = known || conversationId;
  const going = conversation ? `Conversation: ${conversation}. Give this id as \`conversation\` to go on with it.` : "";
  const waiting =
    approvals.length > 0 ? `The agent waits for its owner's approval in Berth: ${approvals.join("; ")}` : "";
  if (status === "done") return texts(reply ?? "", waiting, going);
  if (status === "working") {
    const how = `Call get_reply with agent "${subdomain}" and turn "${turnId}" to get its reply.`;
    return texts(`The agent still works. ${how}`, waiting, going);
  }
  return { ...texts(error || "The agent could not answer.", going), isError: true };
}
