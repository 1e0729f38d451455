// The tool that runs the scripts of skills in the sandbox, with the skill's files and those of the message.
//
// It is of the class `read`, like `run_code`: a script reaches nothing outside. Its output counts like the skill's other texts.
import { type TString, Type as t } from "@sinclair/typebox";
import {
  LIMITS,
  loadMessageFiles,
  RUN_TIMEOUT_MS,
  resultText,
  type Sandbox,
  SEND,
  sendFiles,
  toToolFiles,
} from "../../sandbox/index.ts";
import {
  defineTool,
  TAINT,
  type Tool,
  type ToolContext,
  ToolOutput,
  toolDeclined,
  wrapUntrusted,
} from "../../skills/index.ts";
import type { FileEntry } from "../store/skill-rows.ts";
import { type FolderSkill, isRunnable } from "./folder-skill.ts";

const NAME = "run_skill_script";
/** The folder in which a script finds the files of the message. */
const INPUT = "input/";

interface Deps {
  sandbox: Pick<Sandbox, "run">;
  /** The skill of this name, which the agent has switched on; raises the taint if it is not trusted. */
  requireSkill(name: string, context: ToolContext): Promise<FolderSkill>;
  nameOfSkill: TString;
}

export const createScriptTool = ({ sandbox, requireSkill, nameOfSkill }: Deps): Tool =>
  defineTool({
    name: NAME,
    class: "read",
    description:
      "Runs a JavaScript or TypeScript file in scripts/ of one of your skills, in a sandbox without network. It can read the skill's files, " +
      `and those of the person's latest message at ${INPUT}NAME. Returns what it prints.`,
    timeoutMs: RUN_TIMEOUT_MS,
    input: t.Object({
      skill: nameOfSkill,
      script: t.String({ minLength: 1, maxLength: 300, description: "Its path, such as scripts/convert.js." }),
      args: t.Optional(t.Array(t.String({ maxLength: 4_000 }), { maxItems: 20, description: "Its arguments." })),
      send: t.Optional(t.Array(t.String({ maxLength: 200 }), SEND)),
    }),
    summarize: ({ skill, script, args = [] }) =>
      args.length === 0
        ? `Run the script ${script} of the skill ${skill}`
        : `Run the script ${script} of the skill ${skill} with ${args.join(" ")}`,
    async execute({ skill: name, script: path, args = [], send = [] }, context) {
      const { agentId, signal, raiseTaint } = context;
      const skill = await requireSkill(name, context);
      const script = path.replace(/^\.\//, "");
      const files = await skill.files();
      if (!files.some((file) => file.path === script)) {
        const runnable = files.filter(isRunnable).map((file) => file.path);
        throw toolDeclined(
          `This skill has no script ${path.slice(0, 300)}. There are: ${runnable.join(", ") || "none"}.`,
        );
      }
      if (!isRunnable({ path: script })) throw toolDeclined(CANT_RUN);
      const sent = await loadMessageFiles(context);
      if (sent.length > 0) raiseTaint(TAINT.outside);
      const encoder = new TextEncoder();
      const own = (await skill.texts(fitting(script, files))).map((file) => ({
        name: file.path,
        mediaType: "text/plain",
        bytes: encoder.encode(file.text),
      }));
      const outcome = await sandbox.run({
        agentId,
        program: { script, args },
        files: [...own, ...sent.map((file) => ({ ...file, name: `${INPUT}${file.name}` }))],
        signal,
      });
      const text = resultText(outcome, await sendFiles(context, send, outcome.files));
      const isOwn = skill.trusted && sent.length === 0;
      return new ToolOutput(isOwn ? text : wrapUntrusted(NAME, text), toToolFiles(outcome.files));
    },
  });

const CANT_RUN =
  "Only JavaScript and TypeScript in scripts/ can be run here. Do what it would do in another way, or say that you can't.";

/** The files that fit into the sandbox: the script and others in scripts/ first. */
function fitting(script: string, files: readonly FileEntry[]): string[] {
  const rank = ({ path }: FileEntry) => (path === script ? 0 : path.startsWith("scripts/") ? 1 : 2);
  let left: number = LIMITS.inputsBytes;
  return files
    .filter(({ isText, size }) => isText && size <= LIMITS.inputBytes)
    .sort((one, other) => rank(one) - rank(other))
    .filter(({ size }) => {
      left -= size;
      return left >= 0;
    })
    .map(({ path }) => path);
}
