// The skill of delegation: `delegate` runs several sub-tasks at once and joins their results.
//
// It is of the class `read`, because sub-tasks only read. They end with the turn, and a turn that is repeated after a crash runs
// them again.
import { Type as t } from "@sinclair/typebox";
import { AppError } from "../../../src/kernel/errors.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import { defineTool, type Skill, TAINT, type ToolContext, wrapUntrusted } from "../../skills/index.ts";
import type { Step } from "../turn/tool-calls.ts";
import { runSubTask, type SubTaskDeps, type SubTaskResult } from "./sub-task.ts";

const NAME = "delegate";
const MAX_TASKS = 4;
/** Sub-tasks of all agents that run at once; others wait. */
const MAX_RUNNING = 16;
const DEFAULT_TOKENS = 40_000;
const MAX_TOKENS = 200_000;
/** Characters of a step's input in the result. */
const MAX_INPUT = 120;
/** Characters of one result: together they fit into a tool's result. */
const MAX_TEXT = 3_400;

export function createDelegateSkill(deps: SubTaskDeps): Skill {
  const running = createSemaphore(MAX_RUNNING);

  /** The result in words. A failure of one sub-task leaves the others alone. */
  async function resultOf(task: string, n: number, tokens: number, context: ToolContext): Promise<string> {
    const key = `${context.callKey}.${n + 1}`;
    try {
      const result = await running.run(
        () => runSubTask(deps, { task, key, tokens, part: n + 1, without: NAME }, context),
        {
          signal: context.signal,
        },
      );
      context.raiseTaint(result.taint);
      return inWords(result);
    } catch (error) {
      context.signal.throwIfAborted();
      const isKnown = error instanceof AppError && error.status < 500;
      return `It failed: ${isKnown ? error.message : "the model could not answer. Try it again, or do it yourself."}`;
    }
  }

  const tools = [
    defineTool({
      name: NAME,
      class: "read",
      description:
        "Gives up to 4 independent parts of a task to copies of you, which work at once and return their results. Each sees only its own text, has your " +
        "tools that read and look up, and can change nothing. For research and long reading; do short things yourself.",
      timeoutMs: 5 * MINUTE,
      input: t.Object({
        tasks: t.Array(t.String({ minLength: 1, maxLength: 8_000 }), {
          minItems: 1,
          maxItems: MAX_TASKS,
          description: "Each with everything that has to be known for it, and what to answer with.",
        }),
        tokens: t.Optional(
          t.Integer({
            minimum: 2_000,
            maximum: MAX_TOKENS,
            description: `The most tokens for each part, by default ${DEFAULT_TOKENS}.`,
          }),
        ),
      }),
      summarize: ({ tasks }) =>
        tasks.length === 1
          ? `Give a task to a helper: ${tasks[0]}`
          : `Give ${tasks.length} parts of a task to helpers: ${tasks.join("; ")}`,
      async execute({ tasks, tokens = DEFAULT_TOKENS }, context) {
        const results = await Promise.all(tasks.map((task, n) => resultOf(task, n, tokens, context)));
        return results.map((result, n) => `Part ${n + 1} of ${results.length}\n${result}`).join("\n\n");
      },
    }),
  ];
  return {
    id: "delegate",
    name: "Delegate",
    description: "Works on several parts of a task at once, each with a context and a limit of tokens of its own.",
    category: "thinking",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
  };
}

/** The steps, the tokens, and the answer, which is marked if the sub-task has read something from outside. */
function inWords({ text, steps, tokens, taint }: SubTaskResult): string {
  const answer = text.slice(0, MAX_TEXT).toWellFormed() || "(no answer)";
  return [
    ...steps.map(stepInWords),
    `${tokens} tokens`,
    taint === TAINT.none ? answer : wrapUntrusted(NAME, answer),
  ].join("\n");
}

const stepInWords = ({ tool, input, ok }: Step) =>
  `- ${tool} ${input.slice(0, MAX_INPUT).toWellFormed().replace(/\s+/g, " ")}${ok ? "" : " (did not work)"}`;
