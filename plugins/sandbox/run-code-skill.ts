// The skill of the sandbox: `run_code` runs JavaScript or TypeScript that the model writes, with the files of the message.
//
// The tool is of the class `read`: a program reaches nothing but its own files, so it changes nothing for anybody. Text of
// files that it reads comes from outside and taints the turn; everything else that it prints follows from what the model wrote.
import { Type as t } from "@sinclair/typebox";
import { defineTool, type Skill, TAINT, ToolOutput, wrapUntrusted } from "../skills/index.ts";
import { loadMessageFiles } from "./message-files.ts";
import { resultText, toToolFiles } from "./result.ts";
import { LIMITS, QUEUE } from "./runner/limits.ts";
import type { Sandbox } from "./runner/sandbox.ts";
import { SEND, sendFiles } from "./sending/send-files.ts";

const NAME = "run_code";

/** Waiting, the program itself, and time to fetch its files and to draw those that are sent. */
export const RUN_TIMEOUT_MS = QUEUE.waitMs + 4 * LIMITS.timeMs;

export function createRunCodeSkill(sandbox: Sandbox): Skill {
  const tools = [
    defineTool({
      name: NAME,
      class: "read",
      description:
        "Runs JavaScript or TypeScript in a sandbox, to compute instead of guessing: sums, dates, statistics, parsing and converting data. " +
        "Returns what the code prints with console.log, and the value that it returns. No network, packages or timers; " +
        `${LIMITS.timeMs / 1000} s and ${LIMITS.memoryBytes / 1024 / 1024} MB. ` +
        "Files of the person's latest message, also those that you can't see: files.list(), files.read(name) as text, files.readBytes(name). " +
        "files.write(name, textOrBytes) keeps a file with the result; `send` sends it to the person.",
      timeoutMs: RUN_TIMEOUT_MS,
      input: t.Object({
        code: t.String({
          minLength: 1,
          maxLength: LIMITS.sourceBytes / 4,
          description: "The body of an async function.",
        }),
        send: t.Optional(t.Array(t.String({ maxLength: 200 }), SEND)),
      }),
      summarize: ({ code }) => `Run this program: ${code}`,
      async execute({ code, send = [] }, context) {
        const { agentId, signal, raiseTaint } = context;
        const files = NAMES_FILES.test(code) ? await loadMessageFiles(context) : [];
        // Their texts come from outside, even if the turn ends before the program does.
        if (files.length > 0) raiseTaint(TAINT.outside);
        const outcome = await sandbox.run({ agentId, program: { code }, files, signal });
        const text = resultText(outcome, await sendFiles(context, send, outcome.files));
        return new ToolOutput(files.length > 0 ? wrapUntrusted(NAME, text) : text, toToolFiles(outcome.files));
      },
    }),
  ];
  return {
    id: "run-code",
    name: "Run code",
    description: "Computes with JavaScript in a sandbox without network, and reads the files that people send.",
    category: "thinking",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
  };
}

/** Files are fetched only for code that may read them. */
const NAMES_FILES = /\bfiles\b|\bglobalThis\b/;
