// Lets the model answer a message: gathers its history, instructions and tools, and runs the tool loop.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../../ai/index.ts";
import type { approvals as approvalsPlugin } from "../../approvals/index.ts";
import {
  highestTaint,
  isVerbatimIn,
  type MessageFile,
  type skills as skillsPlugin,
  TAINT,
} from "../../skills/index.ts";
import type { UploadService } from "../../uploads/index.ts";
import { createEarlierFiles } from "../inbox/earlier-files.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Inbox } from "../inbox/inbox.ts";
import { createInterruptedCallReport } from "../journal/interrupted-calls.ts";
import type { Journal } from "../journal/journal.ts";
import { noticeIdOf } from "../journal/suspensions.ts";
import { type LiveObserver, teeObserver } from "../live/live-turns.ts";
import type { OwnerAlerts } from "../outbox/owner-alerts.ts";
import type { SlowReplies } from "../outbox/slow-replies.ts";
import type { Platforms, SavePreview } from "../platforms.ts";
import { toSentFile } from "../reply-files/sent-files.ts";
import type { TurnFiles } from "../reply-files/turn-files.ts";
import type { FactExtraction } from "../sessions/fact-extraction.ts";
import type { History } from "../sessions/history.ts";
import { createQuotedResults, givenTexts } from "../sessions/read-texts.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { TurnSpan } from "../turn-spans.ts";
import { isToSpeak } from "../voice/speaking.ts";
import { loadCompactedHistory } from "./compaction.ts";
import type { FailedTurn } from "./failed-turn.ts";
import type { LoadedFiles } from "./file-loading.ts";
import { buildPrompt } from "./prompt.ts";
import type { Observer } from "./tool-calls.ts";
import { runToolLoop, type SuspendedLoop, type ToolLoopResult } from "./tool-loop.ts";

export interface ModelTurnDeps extends Pick<Kernel, "database" | "log"> {
  agents: ServiceOf<typeof agentsPlugin>;
  ai: ServiceOf<typeof aiPlugin>;
  skills: ServiceOf<typeof skillsPlugin>;
  approvals: Pick<ServiceOf<typeof approvalsPlugin>, "authorize">;
  inbox: Inbox;
  journal: Journal;
  sessions: Sessions;
  factExtraction: FactExtraction;
  ownerAlerts: OwnerAlerts;
  slowReplies: Pick<SlowReplies, "markShown">;
  platforms: Pick<Platforms, "of">;
  uploads: Pick<UploadService, "fetchFile" | "ofMessages" | "ofReplies">;
  /** Is told of the first text of a streamed reply, `ms` after the message has arrived. */
  onFirstText(ms: number): void;
}

/** The state of one run of an entry. */
export interface RunningTurn extends FailedTurn {
  /** The entry as its lane holds it: the next try runs with it. */
  readonly queued: InboxEntry;
  /** Calls of the model that were begun for the reply. */
  calls: number;
  /** The files of the reply; undefined where a reply is text alone, and for commands. */
  files: TurnFiles | undefined;
  /** Its span; undefined where traces are off, and for commands. */
  span: TurnSpan | undefined;
  /** Its reply is to be spoken. */
  speaks: boolean;
  /** Its readers; undefined for a turn without a stream. */
  readonly live: LiveObserver | undefined;
}

interface GivenFiles {
  /** For the prompt. */
  files: LoadedFiles | undefined;
  filesForTools: readonly MessageFile[] | undefined;
}

/** Rejects as `runToolLoop` does. */
export function createModelTurn(deps: ModelTurnDeps) {
  const {
    agents,
    ai,
    skills,
    approvals,
    inbox,
    journal: journals,
    sessions,
    factExtraction,
    slowReplies,
    platforms,
  } = deps;
  const reportInterruptedCall = createInterruptedCallReport(deps);
  const earlierFiles = createEarlierFiles(deps);
  const wasQuoted = createQuotedResults(deps);
  const savePreview: SavePreview = (entry, previewId) =>
    deps.database.write([inbox.savePreviewStatement(entry, previewId)]);

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

  /** The same observer, which reports the first text of a turn that runs for the first time. */
  function timed(observer: Observer | undefined, { attempts, suspended, receivedAt }: InboxEntry) {
    if (!observer || attempts > 1 || suspended !== null) return observer;
    let isFirst = true;
    return {
      ...observer,
      delta(text: string) {
        if (isFirst) deps.onFirstText(Date.now() - receivedAt);
        isFirst = false;
        observer.delta(text);
      },
    };
  }

  return async (
    turn: RunningTurn,
    agent: Agent,
    chosen: TurnModel,
    { files, filesForTools }: GivenFiles,
  ): Promise<ToolLoopResult | SuspendedLoop> => {
    const { entry, files: turnFiles, signal, waiter, live } = turn;
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
      journals.open(turn.queued),
      skills.toolsFor(agent.id, audience.byOwner, canFollowUp(entry.platform)),
      skills.instructionsFor({ ...audience, sessionId: entry.sessionId, text: entry.content }),
      loadCompactedHistory(sessions, entry.sessionId, {
        contextWindow,
        signal,
        summarizer: chosen.demo ? undefined : { language, reserve },
        keepFacts: () => factExtraction.forSummary(entry),
      }),
      ai.turnCache(agent, chosen, entry.id),
    ]);
    const history = withoutOwn(wholeHistory, entry);
    turn.speaks = turnFiles !== undefined && isToSpeak(settings, entry);
    // A spoken reply would leave its preview behind.
    const preview =
      waiter?.observer || turn.speaks ? undefined : platforms.of(entry.platform)?.preview?.(entry, savePreview);
    const shown = waiter?.observer ?? (preview?.observer && markingShown(preview.observer, entry.id));
    const observer = timed(teeObserver(shown, live), turn.queued);
    const attach: TurnFiles["attach"] | undefined =
      turnFiles &&
      (async (...given) => {
        const attached = await turnFiles.attach(...given);
        observer?.file?.(toSentFile(agent.id, attached));
        return attached;
      });
    try {
      return await runToolLoop({
        model: language,
        journal,
        keepsAnswer: turn.speaks,
        attach,
        prompt: buildPrompt({ agent, settings, entry, skillInstructions: instructions.text, history, files }),
        taint: highestTaint([
          entry.taint,
          // Nobody but the file's author has approved the instructions of an imported agent.
          settings.imported ? TAINT.outside : TAINT.none,
          instructions.taint,
          history.summaryTaint,
          ...history.recent.map(({ taint }) => taint),
          tools.some(({ hasForeignDescription }) => hasForeignDescription) ? TAINT.outside : TAINT.none,
        ]),
        tools,
        toolContext: {
          ...audience,
          ...origin,
          inboxId: entry.id,
          hasRead: (text) => isVerbatimIn(givenTexts({ entry, settings, history, files }), text),
          ...(filesForTools && { files: filesForTools }),
          earlierFiles: () => earlierFiles(entry),
          ...(settings.approvals && { approvals: settings.approvals }),
        },
        async authorize(step, call, callId) {
          if (call.sends !== undefined && (await wasQuoted(entry.sessionId, tools, call.sends))) {
            return { kind: "admitted", input: call.input, isEdited: false };
          }
          const authorization = await approvals.authorize({ ...audience, ...origin, turnId: entry.id, step }, call);
          if (authorization.kind === "waiting") {
            const { id, summary } = authorization.approval;
            live?.approval({ id, callId, tool: call.tool, class: call.class, summary });
          }
          return authorization;
        },
        onUnknownOutcome: (tool) => void reportInterruptedCall(entry, tool),
        onFailure: (tool) =>
          agents.log(agent.id, "warning", `A call of ${tool} did not work.`, "runtime", { turn: entry.id }),
        onForbidden: (tool) =>
          agents.log(agent.id, "info", `A call of ${tool} was refused by your rule.`, "approvals", { turn: entry.id }),
        acceptedInputs: () => ai.inputModalities(chosen),
        settings: samplingSettings(settings),
        reserve(prompt) {
          turn.calls++;
          return reserve(prompt);
        },
        cache,
        span: turn.span,
        onUnfinished(output) {
          turn.unfinished = output;
        },
        observer,
        signal,
      });
    } finally {
      const previewId = await preview?.end();
      if (previewId !== undefined) turn.entry = { ...entry, previewId };
    }
  };
}

/** Visitors and other agents get the reply and nothing later. */
const canFollowUp = (platform: string) => platform !== "public" && platform !== "agent";

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
