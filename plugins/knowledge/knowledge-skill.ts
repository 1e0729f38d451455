// The files skill: tools by which an agent searches its files, and by which its owner has it keep or delete one.
import { Type as t } from "@sinclair/typebox";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import type { Agent } from "../agents/index.ts";
import { defineTool, type Skill, type SkillSource, TAINT, type Tool, toolDeclined } from "../skills/index.ts";
import { MAX_UPLOAD_BYTES } from "../uploads/index.ts";
import type { Passage } from "./chunk-store.ts";
import type { FileService } from "./file-service.ts";
import type { KnowledgeFile } from "./file-store.ts";
import { findSentFiles } from "./sent-files.ts";

/** Characters of all passages in a result, below what a tool's result may have. */
const MAX_RESULT = 14_000;
const MAX_LISTED = 100;

interface Deps {
  service: FileService;
  hasFiles(agentId: string): Promise<boolean>;
  agentOf(agentId: string): Promise<Agent | undefined>;
}

const INSTRUCTIONS =
  "You have files from your owner. Before you answer a question that they may answer, look with search_files, and name the file and page that the answer is from. If they don't have it, say so.";

/** Agents without files get one tool and no instructions. */
export function createKnowledgeSource(deps: Deps): SkillSource {
  const base = {
    id: "files",
    name: "Files",
    description: "Searches the files that you give to the agent, and names file and page.",
    category: "core",
    version: "1.0.0",
    enabledByDefault: true,
  };
  const keep = keepTool(deps);
  const [withoutFiles, withFiles] = [[keep], [searchTool(deps), keep, forgetTool(deps)]];
  const empty: Skill = { ...base, tools: () => withoutFiles };
  const full: Skill = { ...base, tools: () => withFiles, instructions: () => INSTRUCTIONS };
  const [forEmpty, forFull] = [[empty], [full]];
  // The registry asks once for each agent, and again when its first file comes or its last one goes.
  return {
    id: "built-in",
    skillsFor: async (agentId) => (agentId !== "" && (await deps.hasFiles(agentId)) ? forFull : forEmpty),
    skillsOf: () => forFull,
  };
}

const searchTool = ({ service }: Pick<Deps, "service">): Tool =>
  defineTool({
    name: "search_files",
    class: "read",
    untrusted: true,
    quotes: true,
    description:
      "Searches your owner's files. Gives passages with file and page, which the answer should name. Without a query: lists the files.",
    input: t.Object({
      query: t.Optional(t.String({ maxLength: 1_000, description: "The question, or words that the passage has." })),
      limit: t.Optional(t.Integer({ minimum: 1, maximum: 20 })),
    }),
    async execute({ query = "", limit = 8 }, { agentId, userId }) {
      if (query.trim() === "") return listText(await service.list(agentId, { limit: MAX_LISTED, offset: 0 }));
      const passages = await service.search({ id: agentId, userId }, query, limit);
      if (passages.length > 0) return passagesText(passages);
      return "No file has these words. Try others, or leave out the query to see which files there are.";
    },
  });

const keepTool = ({ service, agentOf }: Deps): Tool =>
  defineTool({
    name: "keep_file",
    class: "write",
    ownerOnly: true,
    timeoutMs: 60_000,
    description:
      "Keeps a file of this conversation, so that you can search it in all conversations: of the latest message, of the one that it replies to, or of an earlier one. Only when asked to keep it.",
    input: t.Object({
      name: t.Optional(
        t.String({ maxLength: 200, description: "Which file, if not all of the newest message that has any." }),
      ),
    }),
    async summarize({ name }, chat) {
      const files = await findSentFiles(chat, name);
      if (files.length === 0) throw noSuchFile();
      return `Keep "${files.map((file) => oneLine(file.name)).join('", "')}", to find what is in it in all conversations`;
    },
    async execute({ name }, context) {
      const { agentId, raiseTaint, signal } = context;
      const agent = await agentOf(agentId);
      const wanted = agent ? await findSentFiles(context, name) : [];
      if (!agent || wanted.length === 0) throw noSuchFile();
      // The names of files come from outside.
      raiseTaint(TAINT.outside);
      const kept: string[] = [];
      for (const file of wanted) {
        const bytes = await file.read(MAX_UPLOAD_BYTES, signal);
        if (!bytes) throw toolDeclined(`${oneLine(file.name)} can't be fetched any more. The owner sends it again.`);
        const { name: fileName, mediaType: type } = file;
        const { id } = await service.add(agent, { name: fileName, type, bytes: Uint8Array.from(bytes) }, "agent");
        kept.push(`${oneLine(fileName)} (id ${id})`);
      }
      return `Kept: ${kept.join(", ")}. Reading takes a moment; then search_files finds what is in it.`;
    },
  });

const noSuchFile = () => toolDeclined("There is no such file in this conversation. The owner sends it again.");

const forgetTool = ({ service, agentOf }: Deps): Tool =>
  defineTool({
    name: "delete_file",
    class: "write",
    ownerOnly: true,
    description: "Deletes one of your owner's files for good. Its id comes from search_files without a query.",
    input: t.Object({ id: t.String({ minLength: 1, maxLength: 64 }) }),
    async summarize({ id }, { agentId }) {
      const { name } = await service.require(agentId, id);
      return `Delete the kept file "${oneLine(name)}" for good`;
    },
    async execute({ id }, { agentId }) {
      const agent = await agentOf(agentId);
      if (!agent) throw toolDeclined("This agent was deleted.");
      const { name } = await service.require(agentId, id);
      await service.remove(agent, id);
      return `Deleted: ${oneLine(name)}.`;
    },
  });

function passagesText(passages: readonly Passage[]): string {
  const parts: string[] = [];
  let left = MAX_RESULT;
  for (const { name, page, heading, text } of passages) {
    const place = [oneLine(name), ...(page === null ? [] : [`page ${page}`]), ...(heading ? [oneLine(heading)] : [])];
    const part = `[${place.join(", ")}]\n${text}`;
    left -= part.length + 2;
    if (left < 0) break;
    parts.push(part);
  }
  return parts.join("\n\n");
}

const STATES: Readonly<Record<KnowledgeFile["status"], string>> = {
  queued: "not read yet",
  indexing: "being read",
  ready: "ready",
  failed: "could not be read",
};

const listText = (files: readonly KnowledgeFile[]) =>
  files
    .map(({ id, name, status, url }) => `${oneLine(name)}: ${STATES[status]}, id ${id}${url ? `, from ${url}` : ""}`)
    .join("\n") || "There are no files.";
