// Runs one sub-task: a tool loop with a context, tools and a budget of its own.
//
// It only reads: it gets the agent's tools whose calls may be repeated without an effect, because nothing of a sub-task is kept
// and nobody can be asked for approval in the middle of it.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { AppError } from "../../../src/kernel/errors.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../../ai/index.ts";
import { highestTaint, type skills as skillsPlugin, TAINT, type Taint, type ToolContext } from "../../skills/index.ts";
import { type ModelCall, type TurnJournal, withoutJournal } from "../journal/steps.ts";
import { GROUND_RULES } from "../turn/prompt.ts";
import type { Step } from "../turn/tool-calls.ts";
import { runToolLoop } from "../turn/tool-loop.ts";
import type { TurnSpan } from "../turn-spans.ts";

export interface SubTaskDeps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log" | "settings">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "reserve" | "languageModel" | "inputModalities">;
  skills: Pick<ServiceOf<typeof skillsPlugin>, "toolsFor">;
  /** The model that answers for an agent now. */
  chooseModel(agent: Agent): Promise<TurnModel>;
}

export interface SubTask {
  /** What to do, with all that one has to know for it. */
  task: string;
  /** Names the sub-task in keys of calls. */
  key: string;
  /** Tokens that its calls of the model may read and write together; the last call may exceed it. */
  tokens: number;
  /** Its number, from 1. */
  part: number;
  /** The name of the tool that delegates, which a sub-task does not get. */
  without: string;
}

export interface SubTaskResult {
  text: string;
  steps: readonly Step[];
  tokens: number;
  /** Of everything that it has read. */
  taint: Taint;
}

/** Rejects with the error of a call of the model or of the budget, or with the reason of the context's signal. */
export async function runSubTask(deps: SubTaskDeps, subTask: SubTask, context: ToolContext): Promise<SubTaskResult> {
  const agent = await deps.agents.find(context.agentId);
  if (!agent) throw new AppError(409, "AGENT_STOPPED", "The agent is gone.");
  const span = context.span && (await import("../turn-spans.ts")).beginSubTaskSpan(context.span, agent, subTask.part);
  try {
    return await runWithin(deps, subTask, context, agent, span);
  } catch (error) {
    span?.fail(error);
    throw error;
  } finally {
    span?.end();
  }
}

async function runWithin(
  { agents, ai, skills, chooseModel }: SubTaskDeps,
  subTask: SubTask,
  context: ToolContext,
  agent: Agent,
  span: TurnSpan | undefined,
): Promise<SubTaskResult> {
  const { agentId, byOwner, platform, inboxId, signal } = context;
  const [settings, model] = await Promise.all([agents.settings(agentId), chooseModel(agent)]);
  const language = await ai.languageModel(model, agentId);
  const offered = await skills.toolsFor(agentId, byOwner, platform !== "public");
  const tools = offered.filter(({ name, effect }) => effect === "read" && name !== subTask.without);
  const { budget, maxTokens, temperature, topP } = settings;
  let used = 0;
  const count = ({ usage: { inputTokens, outputTokens } }: ModelCall) => {
    used += inputTokens + outputTokens;
  };
  const result = await runToolLoop({
    model: language,
    journal: countingJournal(subTask.key, count),
    prompt: promptOf(agent, subTask.task),
    taint: highestTaint([
      context.taint,
      tools.some(({ hasForeignDescription }) => hasForeignDescription) ? TAINT.outside : TAINT.none,
    ]),
    tools,
    toolContext: context,
    authorize: async (_, { tool }) => ({
      kind: "refused",
      text: `${tool} needs the owner's approval, which nobody can give within a sub-task.`,
    }),
    onForbidden: (tool) =>
      agents.log(agentId, "info", `A call of ${tool} was refused by your rule.`, "approvals", { turn: inboxId }),
    acceptedInputs: () => ai.inputModalities(model),
    settings: {
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    },
    reserve(prompt) {
      if (used >= subTask.tokens) throw new AppError(402, "SUB_TASK_BUDGET", "The sub-task has used up its tokens.");
      return ai.reserve({ agent, turnId: inboxId, model, budget, prompt, maxTokens, signal });
    },
    observer: undefined,
    span,
    onStep: (event) => context.noteSubStep?.({ ...event, part: subTask.part }),
    signal,
  });
  if ("waiting" in result) throw new Error("A sub-task waited for an approval, which is refused above.");
  const { lastCall } = result;
  if (lastCall) {
    count(lastCall);
    await lastCall.spending.record(lastCall.usage, lastCall.latencyMs);
  }
  return { text: result.text, steps: result.steps, tokens: used, taint: result.taint };
}

/** Stores nothing, but counts what the calls of the model have used. */
function countingJournal(key: string, count: (call: ModelCall) => void): TurnJournal {
  const journal = withoutJournal(key);
  return {
    ...journal,
    async record(answer, call) {
      count(call);
      await journal.record(answer, call);
    },
  };
}

const promptOf = (agent: Agent, task: string): LanguageModelV4Prompt => [
  {
    role: "system",
    content: [
      `You work on one part of a larger task for ${oneLine(agent.name)}, an AI agent. You see only this part, and nobody can answer questions.`,
      "Use your tools where they help, then answer with the result alone: complete, brief, with sources where you have some. If you can't do it, say why.",
      GROUND_RULES,
    ].join("\n\n"),
  },
  { role: "user", content: [{ type: "text", text: task }] },
];
