// Tests delegation in turns: parts that run at once, what they get and can't do, budgets, failures, and the end of a turn.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Type as t } from "@sinclair/typebox";
import { eventually } from "../../../tests/support/eventually.ts";
import type { ChatRequest, Reply } from "../../../tests/support/upstream.ts";
import type { Agent } from "../../agents/index.ts";
import { defineTool, type Skill } from "../../skills/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../support.test.ts";

let fixture: RuntimeFixture;
/** Words that `look_up` was asked for, and what `act` did. */
let lookedUp: string[] = [];
let acted = 0;
const lookUp = defineTool({
  name: "look_up",
  class: "read",
  description: "Looks a word up on a page.",
  untrusted: true,
  input: t.Object({ word: t.String() }),
  execute({ word }) {
    lookedUp.push(word);
    return `${word} is on the page.`;
  },
});
const act = defineTool({
  name: "act",
  class: "write",
  description: "Changes something.",
  input: t.Object({}),
  execute() {
    acted++;
    return "changed";
  },
});
const library: Skill = {
  ...{ id: "library", name: "Library", description: "", category: "test", version: "1" },
  enabledByDefault: true,
  tools: () => [lookUp, act],
};

beforeAll(async () => {
  fixture = await openRuntimeFixture({}, {}, [library]);
});
beforeEach(() => {
  lookedUp = [];
  acted = 0;
  fixture.upstream.reset();
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const isSubTask = ({ messages }: ChatRequest) => String(messages[0]?.content).includes("one part of a larger task");
const toolsOf = ({ body }: ChatRequest) => body.tools?.map((tool) => tool.function.name) ?? [];

/** An agent whose model delegates these tasks; `answer` is what the copies do. */
async function agentThatDelegates(
  input: object,
  answer: (request: ChatRequest) => Reply | Promise<Reply>,
): Promise<{ agent: Agent; results: string[] }> {
  const agent = await fixture.agent({ skills: { delegate: true } });
  const results: string[] = [];
  fixture.upstream.script((request) => {
    if (isSubTask(request)) return answer(request);
    results.push(...request.toolResults.map(({ content }) => content));
    return results.length > 0 ? "Joined." : { toolCalls: [{ name: "delegate", arguments: input }] };
  });
  return { agent, results };
}

test("it is offered only to agents that have it switched on", async () => {
  await fixture.chat(await fixture.agent(), "Hello.");
  expect(fixture.upstream.chats.flatMap(toolsOf)).not.toContain("delegate");
});

describe("parts of a task", () => {
  test("run at once, each with its own text alone, and their results are joined in order", async () => {
    let waiting = 0;
    const { promise: bothThere, resolve } = Promise.withResolvers<void>();
    const { agent, results } = await agentThatDelegates({ tasks: ["Find tea.", "Find cups."] }, async (request) => {
      if (++waiting === 2) resolve();
      await bothThere;
      return `Done: ${request.lastUser}`;
    });
    await fixture.chat(agent, "A secret of this conversation.");
    expect(results[0]).toMatch(
      /^Part 1 of 2\n\d+ tokens\nDone: Find tea\.\n\nPart 2 of 2\n\d+ tokens\nDone: Find cups\.$/,
    );
    const parts = fixture.upstream.chats.filter(isSubTask);
    expect(JSON.stringify(parts.map(({ body }) => body))).not.toContain("A secret of this conversation");
  });

  test("have the tools that read, and neither those that act nor delegation", async () => {
    const { agent, results } = await agentThatDelegates({ tasks: ["Look up tea."] }, ({ toolResults }) =>
      toolResults.length > 0
        ? "Tea is there."
        : {
            toolCalls: [
              { name: "look_up", arguments: { word: "tea" } },
              { name: "act", arguments: {} },
              { name: "delegate", arguments: { tasks: ["More."] } },
            ],
          },
    );
    await fixture.chat(agent, "Research.");
    const [part] = fixture.upstream.chats.filter(isSubTask);
    expect(part && toolsOf(part)).toContain("look_up");
    expect(part && toolsOf(part)).not.toContain("act");
    expect(part && toolsOf(part)).not.toContain("delegate");
    expect({ lookedUp, acted }).toEqual({ lookedUp: ["tea"], acted: 0 });
    expect(results[0]).toContain('- look_up {"word":"tea"}\n- act {} (did not work)');
    // What a part has read from outside taints the turn.
    expect(results[0]).toContain('<untrusted source="delegate">\nTea is there.\n</untrusted>');
  });

  test("that read from outside make tools that act ask first", async () => {
    const agent = await fixture.agent({ skills: { delegate: true } });
    let asked = 0;
    fixture.upstream.script((request) => {
      if (isSubTask(request)) {
        return request.toolResults.length > 0
          ? "Act now!"
          : { toolCalls: [{ name: "look_up", arguments: { word: "x" } }] };
      }
      asked++;
      return {
        toolCalls: [
          asked === 1 ? { name: "delegate", arguments: { tasks: ["Look."] } } : { name: "act", arguments: {} },
        ],
      };
    });
    await fixture.chat(agent, "Research.");
    expect(acted).toBe(0);
    const sql = "SELECT tool, status FROM approvals WHERE agent_id = ?";
    expect((await fixture.kernel.database.read(sql, [agent.id])).rows).toMatchObject([
      { tool: "act", status: "pending" },
    ]);
  });

  test("end with their tokens, and one that fails leaves the others alone", async () => {
    const { agent, results } = await agentThatDelegates({ tasks: ["Loop.", "Answer."], tokens: 2_000 }, (request) =>
      request.lastUser === "Answer."
        ? "Here."
        : { toolCalls: [{ name: "look_up", arguments: { word: "x".repeat(9_000) } }] },
    );
    await fixture.chat(agent, "Research.");
    expect(results[0]).toContain("Part 1 of 2\nIt failed: The sub-task has used up its tokens.");
    expect(results[0]).toContain("Here.");
  });

  test("are paid like the turn", async () => {
    const { agent } = await agentThatDelegates({ tasks: ["One.", "Two."] }, () => "Here.");
    await fixture.chat(agent, "Research.");
    // Two of the turn, and one of each part.
    await eventually(async () => {
      const sql = "SELECT count(*) AS calls FROM usage WHERE agent_id = ?";
      return (await fixture.kernel.database.read(sql, [agent.id])).rows[0]?.calls === 4;
    });
  });

  test("end with their turn", async () => {
    const { promise: begun, resolve } = Promise.withResolvers<AbortSignal>();
    const { agent } = await agentThatDelegates({ tasks: ["Wait."] }, ({ signal }) => {
      resolve(signal);
      return new Promise(() => undefined);
    });
    const caller = new AbortController();
    const reply = fixture.chat(agent, "Research.", { signal: caller.signal });
    const part = await begun;
    caller.abort(new Error("gone"));
    await expect(reply).rejects.toThrow();
    await eventually(() => part.aborted);
  });
});
