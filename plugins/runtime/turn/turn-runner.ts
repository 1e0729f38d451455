// Runs the turn of one inbox entry: loads its files and history, calls the model, and settles the reply in one write.

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../../ai/index.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import { highestTaint, type MessageFile, type skills as skillsPlugin, TAINT } from "../../skills/index.ts";
import type { UploadService } from "../../uploads/index.ts";
import type { ShownSteps } from "../conversations/shown-steps.ts";
import { agentStoppedError, parkedError } from "../errors.ts";
import { isFilesOnly, parseAttachments } from "../inbox/attachments.ts";
import { type Inbox, type InboxEntry, toUserMessage } from "../inbox/inbox.ts";
import { messageFiles } from "../inbox/message-files.ts";
import { isScheduled } from "../inbox/scheduled.ts";
import { createInterruptedCallReport } from "../journal/interrupted-calls.ts";
import type { Journal } from "../journal/journal.ts";
import { noticeIdOf, type Suspensions } from "../journal/suspensions.ts";
import type { RunResult } from "../lanes/lanes.ts";
import { type LiveObserver, type LiveTurns, teeObserver } from "../live/live-turns.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { OwnerAlerts } from "../outbox/owner-alerts.ts";
import type { SlowReplies } from "../outbox/slow-replies.ts";
import type { Platforms, SavePreview } from "../platforms.ts";
import type { ScheduledPrompts } from "../scheduled-prompts.ts";
import type { FactExtraction } from "../sessions/fact-extraction.ts";
import type { History } from "../sessions/history.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { type CommandDeps, runCommand } from "./command-runner.ts";
import { loadCompactedHistory } from "./compaction.ts";
import { createFailureHandler, type FailedTurn, toReply } from "./failed-turn.ts";
import { isRequestRejected } from "./failure.ts";
import { type LoadedFiles, loadFiles, UNREADABLE } from "./file-loading.ts";
import { buildPrompt } from "./prompt.ts";
import type { RunningTurns } from "./running-turns.ts";
import type { Observer } from "./tool-calls.ts";
import { runToolLoop, type SuspendedLoop, type ToolLoopOutput, type ToolLoopResult } from "./tool-loop.ts";

/** After so many starts that found the entry's turn interrupted, the entry counts as the cause of the crashes. */
const MAX_INTERRUPTIONS = 20;
interface Deps extends Pick<Kernel, "database" | "events" | "log"> {
  factExtraction: FactExtraction;
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "authorize">;
  suspensions: Pick<Suspensions, "suspend" | "cancelConversation">;
  /** Decides a request for approval by its code. */
  decideByCode: CommandDeps["decideByCode"];
  uploads: Pick<UploadService, "fetchFile">;
  inbox: Inbox;
  journal: Journal;
  /** The form in which steps are stored with the reply. */
  steps: Pick<ShownSteps, "toStored">;
  sessions: Sessions;
  outbox: Outbox;
  ownerAlerts: OwnerAlerts;
  scheduledPrompts: Pick<ScheduledPrompts, "settledStatements">;
  slowReplies: Pick<SlowReplies, "begin" | "markShown" | "end">;
  /** The model that answers for an agent now. */
  chooseModel(agent: Agent): Promise<TurnModel>;
  /** The hooks that plugins/channels registers (`createPlatformHooks` in delivery/reply-delivery.ts). */
  platforms: Pick<Platforms, "of" | "ownerCommand">;
  runningTurns: Pick<RunningTurns, "begin">;
  liveTurns: Pick<LiveTurns, "begin" | "end" | "postpone">;
  retryDelays?: readonly number[];
}

/** The state of one run of an entry. */
interface RunningTurn extends FailedTurn {
  /** The entry as its lane holds it: the next try runs with it. */
  readonly queued: InboxEntry;
  /** Calls of the model that were begun for the reply. */
  calls: number;
  /** Its readers; undefined for a turn without a stream. */
  readonly live: LiveObserver | undefined;
}

/** Runs one entry until it is settled, or returns when it should run again. Never rejects. */
export function createTurnRunner(deps: Deps) {
  const { agents, ai, skills, approvals, uploads, inbox, sessions, outbox, platforms, runningTurns } = deps;
  const { liveTurns, slowReplies, scheduledPrompts, suspensions, decideByCode, chooseModel, database, events } = deps;
  const handleFailure = createFailureHandler(deps);
  const reportInterruptedCall = createInterruptedCallReport(deps);
  const savePreview: SavePreview = (entry, previewId) => database.write([inbox.savePreviewStatement(entry, previewId)]);

  async function run(queued: InboxEntry): Promise<RunResult> {
    slowReplies.begin(queued);
    const result = await runOnce(queued);
    slowReplies.end(queued, typeof result === "object");
    return result;
  }

  async function runOnce(queued: InboxEntry): Promise<RunResult> {
    const turn: RunningTurn = {
      entry: queued,
      queued,
      sessionStatements: [],
      calls: 0,
      model: "its model",
      redactKeys: (text) => text,
      usesOperatorKey: true,
      live: liveTurns.begin(queued),
      ...runningTurns.begin(queued),
    };
    try {
      const agent = await agents.find(queued.agentId);
      // A stopped agent's messages stay in the inbox until it is started.
      if (!agent || agent.status === "stopped") throw agentStoppedError();
      turn.signal.throwIfAborted();
      await moveToOpenSession(turn);
      if (queued.kind === "command") await answerCommand(turn, agent);
      else {
        // The process ended during its turn again and again: the message may be the cause.
        if (queued.attempts >= MAX_INTERRUPTIONS) throw parkedError();
        queued.attempts++;
        const chosen = await chooseModel(agent);
        turn.model = chosen.label;
        turn.redactKeys = (text) => ai.redactKeys(chosen, text);
        turn.usesOperatorKey = !chosen.ownKey;
        return await (queued.attachments === null ? answer(turn, agent, chosen) : answerWithFiles(turn, agent, chosen));
      }
      return undefined;
    } catch (thrown) {
      return handleFailure(turn, queued, thrown);
    }
  }

  /** Moves a message that arrived before its conversation was reset to the new session. */
  async function moveToOpenSession(turn: RunningTurn): Promise<void> {
    const { agentId, platform, peer } = turn.entry;
    if (peer === null) return;
    const { id: sessionId, statements } = await sessions.findOrOpen(agentId, platform, peer);
    turn.entry = { ...turn.entry, sessionId };
    turn.sessionStatements = statements;
  }

  async function answerCommand(turn: RunningTurn, agent: Agent): Promise<void> {
    const ownerCommand = platforms.ownerCommand(turn.entry.platform);
    const commandDeps = {
      sessions,
      factExtraction: deps.factExtraction,
      chooseModel,
      ownerCommand,
      decideByCode,
      cancelSuspended: suspensions.cancelConversation,
    };
    const { reply, statements } = await runCommand(commandDeps, agent, turn.entry);
    await settle(turn, agent, { text: reply, steps: [], taint: TAINT.none }, statements);
  }

  /**
   * Answers a message with files. The model says which files it can't see; if the message has nothing else, the reply says so
   * without a call of the model.
   */
  async function answerWithFiles(turn: RunningTurn, agent: Agent, chosen: TurnModel): Promise<RunResult> {
    const { agentId, platform, content, attempts } = turn.entry;
    const channel = platforms.of(platform);
    // Files of messages that came through the web or the API are uploads.
    const fetch = channel ? channel.fetchFile : uploads.fetchFile;
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
    const reply = ({ parts, omissions }: LoadedFiles): Promise<RunResult> =>
      parts.length === 0 && omissions.length > 0 && isFilesOnly(content)
        ? settle(turn, agent, { text: omissions.join(" "), steps: [], taint: TAINT.none }, [])
        : answer(turn, agent, chosen, { parts, omissions }, messageFiles(agentId, files, fetch));
    try {
      return await reply(opened);
    } catch (error) {
      const texts = opened.parts.filter(({ type }) => type === "text");
      if (turn.calls !== 1 || texts.length === opened.parts.length || !isRequestRejected(error)) throw error;
      agents.log(agentId, "warning", `${turn.model} rejected a file; answering without it.`, "runtime");
      return await reply({ parts: texts, omissions: [...opened.omissions, UNREADABLE] });
    } finally {
      opened.release();
    }
  }

  async function answer(
    turn: RunningTurn,
    agent: Agent,
    chosen: TurnModel,
    files?: LoadedFiles,
    filesForTools?: readonly MessageFile[],
  ): Promise<RunResult> {
    const { entry, signal, waiter, live } = turn;
    const settings = await agents.settings(agent.id);
    const timezone = settings.timezone ?? "UTC";
    const audience = {
      agentId: agent.id,
      // In a group others read the reply, so the owner gets no more there than anybody else.
      byOwner: entry.byOwner && !entry.isGroup,
      platform: entry.platform,
      peer: entry.peer ?? "",
      timezone,
    };
    const origin = { userId: agent.userId, sessionId: entry.sessionId };
    const { budget, maxTokens } = settings;
    const reserve = (prompt: LanguageModelV4Prompt) =>
      ai.reserve({ agent, turnId: entry.id, model: chosen, budget, prompt, maxTokens, signal });
    const language = await ai.languageModel(chosen, agent.id);
    const { contextWindow } = chosen;
    const [journal, tools, instructions, wholeHistory, cache] = await Promise.all([
      deps.journal.open(turn.queued),
      skills.toolsFor(agent.id, audience.byOwner, canFollowUp(entry.platform)),
      skills.instructionsFor({ ...audience, sessionId: entry.sessionId, text: entry.content }),
      loadCompactedHistory(sessions, entry.sessionId, {
        contextWindow,
        signal,
        summarizer: chosen.demo ? undefined : { language, reserve },
        keepFacts: () => deps.factExtraction.forSummary(entry),
      }),
      ai.turnCache(agent, chosen, entry.id),
    ]);
    const history = withoutOwn(wholeHistory, entry);
    const preview = waiter?.observer ? undefined : platforms.of(entry.platform)?.preview?.(entry, savePreview);
    let result: ToolLoopResult | SuspendedLoop;
    try {
      result = await runToolLoop({
        model: language,
        journal,
        prompt: buildPrompt({ agent, settings, entry, skillInstructions: instructions.text, history, files }),
        taint: highestTaint([
          entry.taint,
          // Nobody but the file's author has approved the instructions of an imported agent.
          settings.imported ? TAINT.outside : TAINT.none,
          instructions.taint,
          history.summaryTaint,
          ...history.recent.map(({ taint }) => taint),
          tools.some(({ isForeign }) => isForeign) ? TAINT.outside : TAINT.none,
        ]),
        tools,
        toolContext: {
          ...audience,
          ...origin,
          inboxId: entry.id,
          ...(filesForTools && { files: filesForTools }),
          ...(settings.approvals && { approvals: settings.approvals }),
        },
        async authorize(step, call) {
          const authorization = await approvals.authorize({ ...audience, ...origin, turnId: entry.id, step }, call);
          const { kind } = authorization;
          if (kind === "waiting") live?.approval({ tool: call.tool, class: call.class, summary: call.summary });
          return authorization;
        },
        onUnknownOutcome: (tool) => void reportInterruptedCall(entry, tool),
        acceptedInputs: () => ai.inputModalities(chosen),
        settings: samplingSettings(settings),
        reserve(prompt) {
          turn.calls++;
          return reserve(prompt);
        },
        cache,
        onUnfinished(output) {
          turn.unfinished = output;
        },
        observer: teeObserver(
          waiter?.observer ?? (preview?.observer && markingShown(preview.observer, entry.id)),
          live,
        ),
        signal,
      });
    } finally {
      const previewId = await preview?.end();
      if (previewId !== undefined) turn.entry = { ...entry, previewId };
    }
    if ("waiting" in result) {
      return (await suspensions.suspend(turn, result)) ? undefined : { retryInMs: 0 };
    }
    const { spending, usage, latencyMs } = result.lastCall;
    try {
      await settle(turn, agent, result, [spending.settleStatement(usage, latencyMs)]);
    } catch (error) {
      // The reply was not stored, but the provider charges for it.
      await spending.record(usage, latencyMs);
      throw error;
    }
    return undefined;
  }

  /** The same observer; the first text or tool call shows the person that the agent works. */
  const markingShown = (observer: Observer, entryId: string): Observer => ({
    delta(text) {
      slowReplies.markShown(entryId);
      observer.delta(text);
    },
    tool(event) {
      slowReplies.markShown(entryId);
      observer.tool(event);
    },
  });

  /** Settles a turn with its reply in one write. The guard refuses a second settlement of the same entry. */
  async function settle(
    { entry, queued, sessionStatements, waiter }: RunningTurn,
    agent: Agent,
    output: ToolLoopOutput,
    extraStatements: Statement[],
  ): Promise<undefined> {
    const now = Date.now();
    const { id: inboxId, sessionId, agentId, platform } = entry;
    // The agent may have been claimed since the turn began: the event goes to its present owner.
    const { userId } = (await agents.find(agentId)) ?? agent;
    const text = output.text.trim() === "" ? "(no answer)" : output.text;
    const ofSchedule = isScheduled(entry)
      ? await scheduledPrompts.settledStatements(entry, { status: "done", reply: text })
      : [];
    await database.write([
      ...sessionStatements,
      ...sessions.appendStatements({ id: sessionId, agentId, platform, inboxId }, [
        ...(isStored(queued, sessionId) ? [] : [toUserMessage(entry)]),
        toReply({ ...output, text }, deps.steps, now),
      ]),
      inbox.settleStatement(entry, "done"),
      guard("settled"),
      ...extraStatements,
      ...ofSchedule,
      ...outbox.replyStatements(entry, text),
      events.recordStatement("agent.message", {
        userId,
        agentId,
        data: { agentId, sessionId, platform, inboxId },
      }),
    ]);
    liveTurns.end(inboxId, { reply: text, sessionId, timestamp: now });
    waiter?.resolve({ inboxId, agentId, sessionId, reply: text, timestamp: now });
    return undefined;
  }

  return run;
}

/** Visitors and other agents get the reply and nothing later. */
const canFollowUp = (platform: string) => platform !== "public" && platform !== "agent";
/** Whether the message is in the session already, because its turn has waited for an approval. */
const isStored = ({ suspended, sessionId: original }: InboxEntry, sessionId: string) =>
  suspended !== null && original === sessionId;

/** The history without what the same turn has stored when it began to wait: its message comes last again. */
function withoutOwn(history: History, entry: InboxEntry): History {
  if (entry.suspended === null) return history;
  const own = [entry.id, noticeIdOf(entry)];
  return { ...history, recent: history.recent.filter(({ id }) => !own.includes(id)) };
}

function samplingSettings({ temperature, topP, maxTokens }: AgentSettings) {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  };
}
