// The texts of a conversation in which its agent had no part. An address that stands in them can't carry what the agent knows.
import type { Database } from "../../../src/kernel/database/database.ts";
import type { AgentSettings } from "../../agents/index.ts";
import { isVerbatimIn, type PreparedTool } from "../../skills/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { LoadedFiles } from "../turn/file-loading.ts";
import type { Step } from "../turn/tool-calls.ts";
import type { History } from "./history.ts";

interface Given {
  entry: Pick<InboxEntry, "platform" | "content">;
  settings: Pick<AgentSettings, "instructions">;
  history: Pick<History, "recent">;
  files: Pick<LoadedFiles, "parts"> | undefined;
}

/** Platforms quote the message that is answered, which may be the agent's. */
const QUOTE = /^\[in answer to [^\n]*\]\n/;
/** Messages of a conversation whose results of tools are looked at. */
const MAX_MESSAGES = 30;

/** The instructions, and what people have written. Another agent's questions are a model's words, so they don't count. */
export function* givenTexts({ entry, settings, history, files }: Given): Generator<string, void> {
  if (settings.instructions !== undefined) yield settings.instructions;
  if (entry.platform === "agent") return;
  yield entry.content.replace(QUOTE, "");
  for (const { role, content } of history.recent) if (role === "user") yield content.replace(QUOTE, "");
  for (const part of files?.parts ?? []) if (part.type === "text") yield part.text;
}

/**
 * Whether a text stands verbatim in what tools that quote others returned earlier in a conversation. Results are stored shortened,
 * so one that stood far down may be missed.
 */
export const createQuotedResults =
  ({ database }: { database: Pick<Database, "read"> }) =>
  async (sessionId: string, tools: readonly PreparedTool[], text: string): Promise<boolean> => {
    const { rows } = await database.read(RESULTS, [sessionId, MAX_MESSAGES]);
    const quoting = new Set(tools.filter(({ quotes }) => quotes).map(({ name }) => name));
    return rows.some((row) => {
      const steps = JSON.parse(String(row.steps)) as Pick<Step, "tool" | "ok" | "result">[];
      const results = steps.filter(({ tool, ok }) => ok && quoting.has(tool)).map(({ result }) => result);
      return isVerbatimIn(results, text);
    });
  };

const RESULTS = `SELECT steps FROM messages WHERE session_id = ? AND steps IS NOT NULL ORDER BY seq DESC LIMIT ?`;
