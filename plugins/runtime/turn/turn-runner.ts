// Runs the turn of one inbox entry: loads its files, lets the model answer, and settles the reply in one write.

import { guard, type Statement } from "../../../src/kernel/database/database.ts";
import { translateNote } from "../../../src/kernel/pages/sentences.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Agent } from "../../agents/index.ts";
import type { TurnModel } from "../../ai/index.ts";
import { type MessageFile, TAINT } from "../../skills/index.ts";
import { type ReplyFile, replyFileNotes, type UploadService } from "../../uploads/index.ts";
import type { ShownSteps } from "../conversations/shown-steps.ts";
import { agentStoppedError, parkedError } from "../errors.ts";
import { isFilesOnly, parseAttachments } from "../inbox/attachments.ts";
import { type InboxEntry, toUserMessage } from "../inbox/entries.ts";
import { messageFiles } from "../inbox/message-files.ts";
import { isScheduled } from "../inbox/scheduled.ts";
import type { Suspensions } from "../journal/suspensions.ts";
import type { RunResult } from "../lanes/lanes.ts";
import type { LiveTurns } from "../live/live-turns.ts";
import type { NewAccountLimits } from "../outbox/new-account-limits.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { SlowReplies } from "../outbox/slow-replies.ts";
import type { DeliveryFile, Platforms } from "../platforms.ts";
import type { ReaderLanguage } from "../reader-language.ts";
import { withFileFacts, withFiles } from "../reply-files/sent-files.ts";
import { createTurnFiles } from "../reply-files/turn-files.ts";
import type { ScheduledPrompts } from "../scheduled-prompts.ts";
import { createHearing } from "../voice/hearing.ts";
import { createSpeaking, type SpokenReply } from "../voice/speaking.ts";
import { type CommandDeps, runCommand } from "./command-runner.ts";
import { createFailureHandler, toReply } from "./failed-turn.ts";
import { isRequestRejected } from "./failure.ts";
import { type LoadedFiles, loadFiles, UNREADABLE } from "./file-loading.ts";
import { createModelTurn, type ModelTurnDeps, type RunningTurn } from "./model-turn.ts";
import type { RunningTurns } from "./running-turns.ts";
import type { ToolLoopOutput } from "./tool-loop.ts";

/** After so many starts that found the entry's turn interrupted, the entry counts as the cause of the crashes. */
const MAX_INTERRUPTIONS = 20;

interface Deps extends ModelTurnDeps, Pick<Kernel, "events"> {
  newAccountLimits?: NewAccountLimits | undefined;
  traces?: Kernel["traces"];
  config: Pick<Kernel["config"], "baseUrl">;
  suspensions: Pick<Suspensions, "suspend" | "cancelConversation">;
  /** Decides a request for approval by its code. */
  decideByCode: CommandDeps["decideByCode"];
  readerLanguage: ReaderLanguage;
  uploads: Pick<UploadService, "fetchFile" | "addToReply" | "ofMessages" | "ofReplies">;
  /** The form in which steps are stored with the reply. */
  steps: Pick<ShownSteps, "toStored">;
  outbox: Outbox;
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

/** Runs one entry until it is settled, or returns when it should run again. Never rejects. */
export function createTurnRunner(deps: Deps) {
  const { agents, ai, uploads, inbox, sessions, outbox, platforms, runningTurns, traces } = deps;
  const { liveTurns, slowReplies, scheduledPrompts, suspensions, decideByCode, chooseModel, database, events } = deps;
  const handleFailure = createFailureHandler(deps);
  const runModelTurn = createModelTurn(deps);
  const hear = createHearing(deps);
  const speak = createSpeaking(deps);

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
      speaks: false,
      files: undefined,
      live: liveTurns.begin(queued),
      span: undefined,
      ...runningTurns.begin(queued),
    };
    try {
      const agent = await agents.find(queued.agentId);
      // A stopped agent's messages stay in the inbox until it is started.
      if (!agent || agent.status === "stopped") throw agentStoppedError(agent);
      turn.signal.throwIfAborted();
      await moveToOpenSession(turn);
      if (queued.kind === "command") await answerCommand(turn, agent);
      else {
        // The process ended during its turn again and again: the message may be the cause.
        if (queued.attempts >= MAX_INTERRUPTIONS) throw parkedError();
        await deps.newAccountLimits?.take(agent, queued);
        turn.files = createTurnFiles(uploads, agent, queued);
        queued.attempts++;
        const { attempts } = queued;
        if (traces)
          turn.span = (await import("../turn-spans.ts")).beginTurnSpan(traces, agent, { ...turn.entry, attempts });
        const chosen = await chooseModel(agent);
        turn.model = chosen.label;
        turn.redactKeys = (text) => ai.redactKeys(chosen, text);
        turn.usesOperatorKey = !chosen.ownKey;
        return await (queued.attachments === null ? answer(turn, agent, chosen) : answerWithFiles(turn, agent, chosen));
      }
      return undefined;
    } catch (thrown) {
      turn.span?.fail(thrown);
      return handleFailure(turn, queued, thrown);
    } finally {
      turn.span?.end();
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
      readerLanguage: deps.readerLanguage,
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
    const { agentId, platform, attempts } = turn.entry;
    const channel = platforms.of(platform);
    // Files of messages that came through the web or the API are uploads.
    const fetch = channel ? channel.fetchFile : uploads.fetchFile;
    if (!fetch) return answer(turn, agent, chosen);
    const files = parseAttachments(turn.entry.attachments);
    const acceptedInputs = await ai.inputModalities(chosen);
    const request = { agentId, files, acceptedInputs, fetch, canRetry: attempts < 2, signal: turn.signal };
    const heard = await hear(turn, agent, request);
    const loaded = await loadFiles({ ...request, files: heard.files });
    const opened = { ...loaded, omissions: [...heard.omissions, ...loaded.omissions] };
    const reply = ({ parts, omissions }: LoadedFiles): Promise<RunResult> =>
      parts.length === 0 && omissions.length > 0 && isFilesOnly(turn.entry.content)
        ? sayOmissions(turn, agent, omissions)
        : answer(turn, agent, chosen, { parts, omissions }, messageFiles(agentId, files, fetch));
    try {
      return await reply(opened);
    } catch (error) {
      const texts = opened.parts.filter(({ type }) => type === "text");
      if (turn.calls !== 1 || texts.length === opened.parts.length || !isRequestRejected(error)) throw error;
      const links = { turn: turn.entry.id };
      agents.log(agentId, "warning", `${turn.model} rejected a file; answering without it.`, "runtime", links);
      return await reply({ parts: texts, omissions: [...opened.omissions, UNREADABLE] });
    } finally {
      opened.release();
    }
  }

  /** Without a call of the model, so in the words of Berth. */
  async function sayOmissions(turn: RunningTurn, agent: Agent, omissions: readonly string[]): Promise<undefined> {
    const language = await deps.readerLanguage(agent.id, turn.entry.language);
    const text = omissions.map((omission) => translateNote(omission, language)).join(" ");
    return settle(turn, agent, { text, steps: [], taint: TAINT.none }, []);
  }

  async function answer(
    turn: RunningTurn,
    agent: Agent,
    chosen: TurnModel,
    files?: LoadedFiles,
    filesForTools?: readonly MessageFile[],
  ): Promise<RunResult> {
    const result = await runModelTurn(turn, agent, chosen, { files, filesForTools });
    if ("waiting" in result) {
      return (await suspensions.suspend(turn, result)) ? undefined : { retryInMs: 0 };
    }
    const spoken = turn.speaks ? await speak(turn, agent, result.text) : undefined;
    const { lastCall } = result;
    if (!lastCall) return settle(turn, agent, result, [], spoken);
    const { spending, usage, latencyMs } = lastCall;
    try {
      await settle(turn, agent, result, [spending.settleStatement(usage, latencyMs)], spoken);
    } catch (error) {
      // The reply was not stored, but the provider charges for it.
      await spending.record(usage, latencyMs);
      throw error;
    }
    return undefined;
  }

  /** Settles a turn with its reply in one write. The guard refuses a second settlement of the same entry. */
  async function settle(
    { entry, queued, sessionStatements, files: turnFiles, waiter }: RunningTurn,
    agent: Agent,
    output: ToolLoopOutput,
    extraStatements: Statement[],
    spoken?: SpokenReply,
  ): Promise<undefined> {
    const now = Date.now();
    const { id: inboxId, sessionId, agentId, platform } = entry;
    // The agent may have been claimed since the turn began: the event goes to its present owner.
    const { userId } = (await agents.find(agentId)) ?? agent;
    const files = (await turnFiles?.list()) ?? [];
    const hasText = output.text.trim() !== "";
    const text = hasText ? output.text : files.length > 0 ? "" : "(no answer)";
    const stored = text === "" ? replyFileNotes(files) : text;
    const ofSchedule = isScheduled(entry)
      ? await scheduledPrompts.settledStatements(entry, { status: "done", reply: stored })
      : [];
    await database.write([
      ...sessionStatements,
      ...sessions.appendStatements({ id: sessionId, agentId, platform, inboxId }, [
        ...(isStored(queued, sessionId) ? [] : [toUserMessage(entry)]),
        toReply({ ...output, text: stored }, deps.steps, now),
      ]),
      inbox.settleStatement(entry, "done"),
      guard("settled"),
      ...extraStatements,
      ...ofSchedule,
      // A voice message that says everything stands alone.
      ...outbox.replyStatements(entry, spoken?.isWhole ? "" : text, { files: readerFiles(entry, files, spoken) }),
      events.recordStatement("agent.message", {
        userId,
        agentId,
        data: { agentId, sessionId, platform, inboxId, ...withFileFacts(agentId, files) },
      }),
    ]);
    const reply = { reply: text, sessionId, timestamp: now, ...withFiles(agentId, files) };
    liveTurns.end(inboxId, reply);
    waiter?.resolve({ inboxId, agentId, ...reply });
    return undefined;
  }

  /** In private its owner can open a file in the console that the platform does not take. */
  function readerFiles(
    { agentId, byOwner, isGroup }: InboxEntry,
    files: readonly ReplyFile[],
    spoken: SpokenReply | undefined,
  ): DeliveryFile[] {
    const address = ({ id }: ReplyFile) => `${deps.config.baseUrl}/api/agents/${agentId}/uploads/${id}`;
    return files.map((file) => ({
      ...file,
      ...(byOwner && !isGroup && { address: address(file) }),
      ...(spoken?.isWhole && spoken.fileId === file.id && { words: spoken.words }),
    }));
  }

  return run;
}

/** Whether the message is in the session already, because its turn has waited for an approval. */
const isStored = ({ suspended, sessionId: original }: InboxEntry, sessionId: string) =>
  suspended !== null && original === sessionId;
