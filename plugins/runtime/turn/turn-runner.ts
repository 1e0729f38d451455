// From an accepted message to a settled reply: the turn of one inbox entry, and what becomes of one that fails.

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { GuardFailed, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { AgentStatsService } from "../../agent-stats/index.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../../ai/index.ts";
import type { skills as skillsPlugin } from "../../skills/index.ts";
import type { Inbox, InboxEntry } from "../inbox/inbox.ts";
import type { RunResult } from "../lanes/lanes.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { Sessions } from "../sessions/sessions.ts";
import {
  ABORT_AGENT_CHANGING,
  ABORT_CANCELLED,
  ABORT_SHUTDOWN,
  agentChangingError,
  agentDeletedError,
  agentStoppedError,
  parkedError,
  shutdownError,
} from "./abort-reasons.ts";
import {
  type FetchFile,
  isFilesOnly,
  type LoadedFiles,
  loadFiles,
  parseAttachments,
  UNREADABLE,
} from "./attachments.ts";
import { type OwnerCommandHandler, runCommand } from "./commands.ts";
import { isRequestRejected, toFailure } from "./failure.ts";
import { buildPrompt, loadCompactedHistory } from "./prompt.ts";
import { createSettlement, type EndedTurn, type Reply, type TurnOutput } from "./settlement.ts";
import { type Observer, runToolLoop, type ToolLoopResult } from "./tool-loop.ts";

/** Tries before an entry is parked. */
const MAX_ATTEMPTS = 5;
/** Starts of the process that found the entry in work, before it counts as the reason why the process ended. */
const MAX_INTERRUPTIONS = 20;
/** Milliseconds between tries, where the provider names none. */
const RETRY_DELAYS = [1_000, 5_000, 30_000, 120_000];
const MAX_DELAY = 120_000;

/** What is shown of a reply before it is sent. */
export interface ReplyPreview {
  /** Left out where nobody sees the reply grow. */
  observer?: Observer;
  /** The message that can become the reply, if there is one. */
  end(): Promise<string | undefined>;
}

/** Somebody who waits for the reply right here: a REST call, a socket. */
export interface ReplyWaiter {
  observer: Observer | undefined;
  /** Aborts when they went away or changed their mind. */
  signal: AbortSignal;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  agentStats: Pick<AgentStatsService, "recordTurn">;
  inbox: Inbox;
  sessions: Sessions;
  outbox: Outbox;
  /** The model that answers for an agent now. */
  chooseModel(agent: Agent): Promise<TurnModel>;
  /** Who does what owners command, if anybody does. */
  obey(): OwnerCommandHandler | undefined;
  /** Who fetches the files of a platform's messages. */
  fetcherOf(platform: string): FetchFile | undefined;
  /** The entry runs from now on: what may end its turn early, and who waits for it. */
  begin(entry: InboxEntry): { signal: AbortSignal; waiter: ReplyWaiter | undefined };
  /** Shows on the entry's platform that a reply is written. */
  previewOf(entry: InboxEntry): ReplyPreview | undefined;
  retryDelays?: readonly number[];
}

/** One run of an entry. */
interface RunningTurn extends EndedTurn {
  readonly signal: AbortSignal;
  readonly waiter: ReplyWaiter | undefined;
  agent: Agent | undefined;
  /** Calls of the model that were begun for the reply. */
  calls: number;
  /** As people are told. */
  model: string;
  key: string | undefined;
}

/** Runs one entry to its end, or says when it should be tried again. Never rejects. */
export function createTurnRunner(deps: Deps) {
  const { agents, ai, skills, inbox, sessions, chooseModel, database, log } = deps;
  const { retryDelays = RETRY_DELAYS } = deps;
  const settlement = createSettlement(deps);

  async function run(queued: InboxEntry): Promise<RunResult> {
    const turn: RunningTurn = {
      entry: queued,
      sessionStatements: [],
      agent: undefined,
      calls: 0,
      model: "its model",
      key: undefined,
      ...deps.begin(queued),
    };
    try {
      turn.agent = await agents.find(queued.agentId);
      // A stopped agent's messages stay in the inbox until it is started.
      if (!turn.agent || turn.agent.status === "stopped") throw agentStoppedError();
      turn.signal.throwIfAborted();
      await moveToOpenSession(turn);
      if (queued.kind === "command") await obey(turn, turn.agent);
      else {
        // It was in work whenever the process went down before: it may be the reason.
        if (queued.attempts >= MAX_INTERRUPTIONS) throw parkedError();
        queued.attempts++;
        const chosen = await chooseModel(turn.agent);
        turn.model = chosen.label;
        turn.key = chosen.apiKey;
        if (queued.attachments === null) await answer(turn, turn.agent, chosen);
        else await answerWithFiles(turn, turn.agent, chosen);
      }
      return undefined;
    } catch (thrown) {
      try {
        return await handleFailure(turn, queued, thrown);
      } catch (error) {
        // Our own storage is in trouble: the entry is still pending, so nothing is lost.
        log.error("a failed turn could not be recorded", { agentId: queued.agentId, inboxId: queued.id, error });
        turn.waiter?.reject(error);
        return { retryInMs: retryDelays.at(-1) ?? MAX_DELAY };
      }
    }
  }

  /** A conversation that was reset after this message had arrived goes on in its new session. */
  async function moveToOpenSession(turn: RunningTurn): Promise<void> {
    const { agentId, platform, peer } = turn.entry;
    if (peer === null) return;
    const { id: sessionId, statements } = await sessions.findOrOpen(agentId, platform, peer);
    turn.entry = { ...turn.entry, sessionId };
    turn.sessionStatements = statements;
  }

  async function obey(turn: RunningTurn, agent: Agent): Promise<void> {
    const { reply, statements } = await runCommand({ sessions, chooseModel, obey: deps.obey() }, agent, turn.entry);
    await settle(turn, agent, { text: reply, steps: [] }, statements);
  }

  /** What the model can't be shown is said: by itself where there is more to answer, else without a call. */
  async function answerWithFiles(turn: RunningTurn, agent: Agent, chosen: TurnModel): Promise<void> {
    const { agentId, platform, content, attempts } = turn.entry;
    const fetch = deps.fetcherOf(platform);
    if (!fetch) return answer(turn, agent, chosen);
    const files = parseAttachments(turn.entry.attachments);
    const acceptedInputs = await ai.inputModalities(chosen);
    const opened = await loadFiles({
      agentId,
      files,
      acceptedInputs,
      fetch,
      canRetry: attempts < 2,
      signal: turn.signal,
    });
    const reply = ({ parts, omissions }: LoadedFiles) =>
      parts.length === 0 && omissions.length > 0 && isFilesOnly(content)
        ? settle(turn, agent, { text: omissions.join(" "), steps: [] }, [])
        : answer(turn, agent, chosen, { parts, omissions });
    try {
      await reply(opened);
    } catch (error) {
      const texts = opened.parts.filter(({ type }) => type === "text");
      if (turn.calls !== 1 || texts.length === opened.parts.length || !isRequestRejected(error)) throw error;
      agents.log(agentId, "warning", `${turn.model} refused a file; it is answered without.`, "runtime");
      await reply({ parts: texts, omissions: [...opened.omissions, UNREADABLE] });
    } finally {
      opened.release();
    }
  }

  async function answer(turn: RunningTurn, agent: Agent, chosen: TurnModel, files?: LoadedFiles): Promise<void> {
    const { entry, signal, waiter } = turn;
    const settings = await agents.settings(agent.id);
    const timezone = settings.timezone ?? "UTC";
    const audience = {
      agentId: agent.id,
      // In a group others read the reply: there nobody is the owner.
      byOwner: entry.byOwner && !entry.isGroup,
      platform: entry.platform,
      peer: entry.peer ?? "",
      timezone,
    };
    const { budget, maxTokens } = settings;
    const reserve = (prompt: LanguageModelV4Prompt) => ai.reserve({ agent, model: chosen, budget, prompt, maxTokens });
    const language = await ai.languageModel(chosen, agent.id);
    const { contextWindow } = chosen;
    const [tools, skillInstructions, history, cache] = await Promise.all([
      skills.toolsFor(agent.id, audience.byOwner),
      skills.instructionsFor({ ...audience, text: entry.content }),
      loadCompactedHistory(sessions, entry.sessionId, {
        contextWindow,
        signal,
        summarizer: chosen.demo ? undefined : { language, reserve },
      }),
      ai.turnCache(agent, chosen),
    ]);
    const preview = waiter?.observer ? undefined : deps.previewOf(entry);
    let result: ToolLoopResult;
    try {
      result = await runToolLoop({
        model: language,
        prompt: buildPrompt({ agent, settings, entry, skillInstructions, history, files }),
        tools,
        toolContext: { ...audience, userId: agent.userId, sessionId: entry.sessionId, inboxId: entry.id },
        settings: samplingSettings(settings),
        reserve(prompt) {
          turn.calls++;
          return reserve(prompt);
        },
        cache,
        observer: waiter?.observer ?? preview?.observer,
        signal,
      });
    } finally {
      const previewId = await preview?.end();
      if (previewId !== undefined) turn.entry = { ...entry, previewId };
    }
    const { spending, usage, latencyMs } = result.lastCall;
    try {
      await settle(turn, agent, result, [spending.settleStatement(usage, latencyMs)]);
    } catch (error) {
      // The reply was not kept, but it was paid for.
      await spending.record(usage, latencyMs);
      throw error;
    }
  }

  async function settle(
    turn: RunningTurn,
    agent: Agent,
    output: TurnOutput,
    extraStatements: Statement[],
  ): Promise<void> {
    const reply = await settlement.settle(turn, agent, output, extraStatements);
    turn.waiter?.resolve(reply);
  }

  async function handleFailure(turn: RunningTurn, queued: InboxEntry, thrown: unknown): Promise<RunResult> {
    const { entry, signal, waiter, model, key } = turn;
    // Its rows are gone with it.
    if (!(await agents.find(entry.agentId))) {
      waiter?.reject(agentDeletedError());
      return undefined;
    }
    // Somebody else settled it already: there is nothing left to do.
    if (thrown instanceof GuardFailed) {
      waiter?.reject(new AppError(409, "ALREADY_SETTLED", "This message was answered or given up elsewhere."));
      return undefined;
    }
    if (isAgentStopped(thrown)) {
      waiter?.reject(thrown);
      // Who is told that it was refused must not be answered later.
      if (waiter) await database.write([inbox.settleStatement(entry, "failed", "AGENT_STOPPED")]);
      return "pause";
    }
    if (signal.reason === ABORT_SHUTDOWN) {
      waiter?.reject(shutdownError());
      return undefined;
    }
    if (signal.reason === ABORT_AGENT_CHANGING) {
      waiter?.reject(agentChangingError());
      return { retryInMs: 0 };
    }
    if (signal.reason === ABORT_CANCELLED) {
      await settlement.settleWithoutReply(turn, "cancelled");
      waiter?.reject(new AppError(409, "CANCELLED", "The reply was cancelled."));
      return undefined;
    }
    const failure = toFailure(thrown, model, key);
    agents.log(entry.agentId, "error", failure.reason, "runtime");
    if (failure.error.status === 500) {
      log.error("a turn failed", { agentId: entry.agentId, inboxId: entry.id, error: thrown });
    }
    if (waiter) {
      await settlement.settleWithoutReply(turn, "failed", failure);
      waiter.reject(failure.error);
      return undefined;
    }
    if (failure.retryable && queued.attempts < MAX_ATTEMPTS) {
      // The next try goes on with the preview that is there already.
      queued.previewId = entry.previewId;
      await database.write(inbox.saveAttemptsStatements([queued]));
      return { retryInMs: failure.retryAfterMs ?? retryDelays[queued.attempts - 1] ?? retryDelays.at(-1) ?? MAX_DELAY };
    }
    const parked = failure.retryable || failure.error.code === "PARKED";
    await settlement.settleWithoutReply(turn, parked ? "parked" : "failed", failure);
    return undefined;
  }

  return run;
}

const isAgentStopped = (thrown: unknown) => thrown instanceof AppError && thrown.code === "AGENT_STOPPED";

function samplingSettings({ temperature, topP, maxTokens }: AgentSettings) {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  };
}
