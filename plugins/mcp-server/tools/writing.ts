// The tools that write to agents: facts to remember, and work at set times.
import { fromJsonSchema, type McpServer } from "@modelcontextprotocol/server";
import { type Static, Type } from "@sinclair/typebox";
import type { AgentLookup } from "./agent-lookup.ts";
import { schemaOf } from "./schemas.ts";
import { type Run, texts } from "./tool.ts";
import type { Turns } from "./turns.ts";

const agent = Type.String({ maxLength: 100, description: "The agent's address or id, as list_agents shows it" });
const rememberInput = Type.Object({
  agent,
  text: Type.String({ minLength: 1, maxLength: 2_000, description: "One fact, as a sentence that stands by itself" }),
});
const scheduleInput = Type.Object({
  agent,
  prompt: Type.String({ minLength: 1, maxLength: 16_000, description: "What the agent is told at that time" }),
  cron: Type.Optional(Type.String({ maxLength: 200, description: "Five fields such as 0 9 * * 1-5; or give `at`" })),
  at: Type.Optional(Type.String({ maxLength: 64, description: "A single time such as 2030-01-31T09:00" })),
  timezone: Type.Optional(Type.String({ maxLength: 64, description: "Such as Europe/Vienna. Default: the agent's" })),
});
const rememberSchema = fromJsonSchema<Static<typeof rememberInput>>(schemaOf(rememberInput));
const scheduleSchema = fromJsonSchema<Static<typeof scheduleInput>>(schemaOf(scheduleInput));

interface Deps {
  lookup: AgentLookup;
  turns: Pick<Turns, "write">;
}

export const createWritingTools = ({ lookup, turns }: Deps) => ({
  register(server: McpServer, run: Run): void {
    server.registerTool(
      "remember",
      {
        title: "Teach an agent a fact",
        description: "Stores a fact in an agent's memory, for all later conversations with its owner.",
        inputSchema: rememberSchema,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
      run("remember", async ({ agent: given, text }: Static<typeof rememberInput>, { caller }) => {
        const to = await lookup.require(caller, given);
        const { known } = (await turns.write(caller, to, "facts", { text })) as { known: boolean };
        return texts(known ? `${to.name} knew that already.` : `${to.name} has remembered it.`);
      }),
    );
    server.registerTool(
      "schedule",
      {
        title: "Plan work for an agent",
        description:
          "Has an agent told something at a set time, once or again and again; it answers in a conversation.",
        inputSchema: scheduleSchema,
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
      },
      run("schedule", async ({ agent: given, ...request }: Static<typeof scheduleInput>, { caller }) => {
        const to = await lookup.require(caller, given);
        const made = (await turns.write(caller, to, "schedules", request)) as {
          words: string;
          nextRunAt: string | null;
        };
        const times = made.words.charAt(0).toLowerCase() + made.words.slice(1);
        return texts(`${to.name} does it ${times}. Next time: ${made.nextRunAt ?? "never"}.`);
      }),
    );
  },
});
