// Notes what is worth knowing later: when a conversation is summarized, and when its reset ends it.
//
// A summary and its facts are one call. At a reset a job makes a call of its own, so that the reply does not wait for it. The facts belong to those
// who were in the conversation: what one person said in private is never told to another. Nothing is extracted from text that comes
// from outside, or that the agent wrote after reading some: it would be noted without anybody's approval.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { MINUTE } from "../../../src/kernel/util/time.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../../ai/index.ts";
import {
  EXTRACT_FACTS,
  type ExtractedFact,
  highestTaint,
  rememberExtracted,
  type skills as skillsPlugin,
  splitFacts,
  TAINT,
  type Taint,
} from "../../skills/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import { textMessage } from "../turn/prompt.ts";
import { tokenUsage } from "../turn/token-usage.ts";
import type { HistoryMessage } from "./history.ts";
import type { Sessions } from "./sessions.ts";

const JOB = "runtime.extract-facts";
const MAX_ATTEMPTS = 2;
/** Two messages with their replies, and the reset: a shorter conversation has nothing that its agent would not note itself. */
const MIN_MESSAGES = 6;
const MAX_CHARACTERS = 24_000;
export const EXTRACT = `Read this conversation that has ended. ${EXTRACT_FACTS.replace("Then write", "Write")} Write nothing else.`;

type Place = Pick<InboxEntry, "agentId" | "sessionId" | "platform" | "byOwner"> & { peer: string; turnId: string };

interface Deps extends Pick<Kernel, "jobs"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log" | "settings">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "reserve" | "languageModel">;
  skills: Pick<ServiceOf<typeof skillsPlugin>, "list" | "memories">;
  sessions: Pick<Sessions, "history">;
  chooseModel(agent: Agent): Promise<TurnModel>;
}

/** The messages that hold nothing from outside. */
export const withoutOutside = (messages: readonly HistoryMessage[]) =>
  messages.filter(({ taint }) => taint !== TAINT.outside);

/** Receives the facts of a summary. Undefined where none are kept. */
export type KeepFacts = (facts: readonly ExtractedFact[], taint: Taint) => Promise<unknown>;

export type FactExtraction = ReturnType<typeof createFactExtraction>;

export function createFactExtraction({ jobs, agents, ai, skills, sessions, chooseModel }: Deps) {
  const isMemoryOn = async (agentId: string) =>
    (await skills.list(agentId)).some(({ id, enabled }) => id === "memory" && enabled);

  /** In a group, others read what the owner says, so it is not the owner's own circle. */
  const placeOf = (entry: InboxEntry): Place => ({
    agentId: entry.agentId,
    sessionId: entry.sessionId,
    platform: entry.platform,
    peer: entry.peer ?? "",
    byOwner: entry.byOwner && !entry.isGroup,
    turnId: entry.id,
  });
  const keep = (place: Place, facts: readonly ExtractedFact[], taint: Taint) =>
    rememberExtracted(skills.memories, { agentId: place.agentId, audience: place, taint, turnId: place.turnId }, facts);

  /** Only our own errors are quoted: a provider's may contain the conversation. */
  function logFailure({ agentId, turnId }: Place, error: unknown): void {
    const cause = error instanceof AppError ? error.message : "The model could not be asked.";
    const text = `Nothing was noted from a conversation that has ended: ${cause}`;
    agents.log(agentId, "warning", text, "memory", { turn: turnId });
  }

  async function extract(payload: unknown, signal: AbortSignal): Promise<void> {
    const place = payload as Place;
    const agent = await agents.find(place.agentId);
    if (!agent || agent.status === "stopped" || !(await isMemoryOn(agent.id))) return;
    const { recent } = await sessions.history(place.sessionId);
    if (recent.length < MIN_MESSAGES) return;
    const chosen = await chooseModel(agent);
    if (chosen.demo) return;
    const own = withoutOutside(recent);
    if (own.length === 0) return;
    const transcript = own.map(({ role, content }) => `${role}: ${content}`).join("\n");
    const prompt: LanguageModelV4Prompt = [
      { role: "system", content: EXTRACT },
      textMessage("user", transcript.slice(-MAX_CHARACTERS)),
    ];
    const { budget } = await agents.settings(agent.id);
    const request = { agent, turnId: place.turnId, model: chosen, budget, prompt, maxTokens: undefined, signal };
    const spending = await ai.reserve(request);
    const began = performance.now();
    try {
      const language = await ai.languageModel(chosen, agent.id);
      const { content, usage } = await language.doGenerate({ prompt, maxOutputTokens: 600, abortSignal: signal });
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
      await spending.record(tokenUsage({ usage, text, calls: [] }, prompt), Math.round(performance.now() - began));
      await keep(place, splitFacts(text).facts, highestTaint(own.map(({ taint }) => taint)));
    } catch (error) {
      spending.release();
      throw error;
    }
  }

  // Two tries: nobody waits for it, and a model that is down or a spent budget is no reason to go on asking.
  jobs.handle(
    JOB,
    async (payload, { signal, attempt }) => {
      try {
        await extract(payload, signal);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) logFailure(payload as Place, error);
        throw error;
      }
    },
    { concurrency: 2, timeoutMs: MINUTE },
  );

  return {
    /** For the reset of a conversation: notes its facts afterwards. Visitors are not remembered. */
    afterResetStatements: (entry: InboxEntry): Statement[] =>
      entry.peer === null || entry.platform === "public"
        ? []
        : [jobs.enqueueStatement(JOB, placeOf(entry), { uniqueKey: entry.sessionId, maxAttempts: MAX_ATTEMPTS })],

    /** For the summary of a conversation; undefined where the agent keeps no facts of it. */
    async forSummary(entry: InboxEntry): Promise<KeepFacts | undefined> {
      if (entry.platform === "public" || !(await isMemoryOn(entry.agentId))) return undefined;
      return (facts, taint) => keep(placeOf(entry), facts, taint);
    },
  };
}
