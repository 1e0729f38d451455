// From an accepted message to a settled reply: the turn of one inbox entry, and what becomes of one that fails.

import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { GuardFailed, type Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../ai/index.ts";
import type { Figures } from "../figures/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import { attachmentsOf, type FetchFile, isBare, type Opened, openFiles, UNREADABLE } from "./attachments.ts";
import { type Obey, runCommand } from "./commands.ts";
import { boundedHistory, buildPrompt } from "./context.ts";
import { CANCELLED, givenUp, INTERRUPTED, interrupted, kept, removed, STOPPING, stopped } from "./endings.ts";
import { failureOf, isRefused } from "./failures.ts";
import type { Inbox, InboxEntry } from "./inbox.ts";
import type { Ran } from "./lanes.ts";
import type { Outbox } from "./outbox.ts";
import type { Sessions } from "./sessions.ts";
import { createSettling, type Ended, type Reply, type Said } from "./settling.ts";
import { type Observer, runTurn, type TurnResult } from "./turn.ts";

/** Tries before an entry is parked. */
const MAX_ATTEMPTS = 5;
/** Starts of the process that found the entry in work, before it counts as the reason why the process ended. */
const MAX_INTERRUPTIONS = 20;
/** Milliseconds between tries, where the provider names none. */
const RETRY_DELAYS = [1_000, 5_000, 30_000, 120_000];
const LONGEST_DELAY = 120_000;

/** What is shown of a reply before it is sent. */
export interface Preview {
  /** Left out where nobody sees the reply grow. */
  observer?: Observer;
  /** The message that can become the reply, if there is one. */
  end(): Promise<string | undefined>;
}

/** Somebody who waits for the reply right here: a REST call, a socket. */
export interface Waiter {
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
  figures: Pick<Figures, "settled">;
  inbox: Inbox;
  sessions: Sessions;
  outbox: Outbox;
  /** The model that answers for an agent now. */
  chooseModel(agent: Agent): Promise<TurnModel>;
  /** Who does what owners command, if anybody does. */
  obey(): Obey | undefined;
  /** Who fetches the files of a platform's messages. */
  fetcherOf(platform: string): FetchFile | undefined;
  /** The entry runs from now on: what may end its turn early, and who waits for it. */
  begin(entry: InboxEntry): { signal: AbortSignal; waiter: Waiter | undefined };
  /** Shows on the entry's platform that a reply is written. */
  previewOf(entry: InboxEntry): Preview | undefined;
  retryDelays?: readonly number[];
}

/** One run of an entry. */
interface Turn extends Ended {
  readonly signal: AbortSignal;
  readonly waiter: Waiter | undefined;
  agent: Agent | undefined;
  /** Calls of the model that were begun for the reply. */
  calls: number;
  /** As people are told. */
  model: string;
  key: string | undefined;
}

/** Runs one entry to its end, or says when it should be tried again. Never rejects. */
export function createEngine(deps: Deps) {
  const { agents, ai, skills, inbox, sessions, chooseModel, database, log } = deps;
  const { retryDelays = RETRY_DELAYS } = deps;
  const settling = createSettling(deps);

  async function run(queued: InboxEntry): Promise<Ran> {
    const turn: Turn = {
      entry: queued,
      opening: [],
      agent: undefined,
      calls: 0,
      model: "its model",
      key: undefined,
      ...deps.begin(queued),
    };
    try {
      turn.agent = await agents.find(queued.agentId);
      // A stopped agent's messages stay in the inbox until it is started.
      if (!turn.agent || turn.agent.status === "stopped") throw stopped();
      turn.signal.throwIfAborted();
      await move(turn);
      if (queued.kind === "command") await obey(turn, turn.agent);
      else {
        // It was in work whenever the process went down before: it may be the reason.
        if (queued.attempts >= MAX_INTERRUPTIONS) throw givenUp();
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
        return await failed(turn, queued, thrown);
      } catch (error) {
        // Our own storage is in trouble: the entry is still pending, so nothing is lost.
        log.error("a failed turn could not be recorded", { agentId: queued.agentId, inboxId: queued.id, error });
        turn.waiter?.reject(error);
        return { again: retryDelays.at(-1) ?? LONGEST_DELAY };
      }
    }
  }

  /** A conversation that was reset after this message had arrived goes on in its new session. */
  async function move(turn: Turn): Promise<void> {
    const { agentId, platform, peer } = turn.entry;
    if (peer === null) return;
    const { id: sessionId, statements } = await sessions.openFor(agentId, platform, peer);
    turn.entry = { ...turn.entry, sessionId };
    turn.opening = statements;
  }

  async function obey(turn: Turn, agent: Agent): Promise<void> {
    const { reply, statements } = await runCommand({ sessions, chooseModel, obey: deps.obey() }, agent, turn.entry);
    await settle(turn, agent, { text: reply, steps: [] }, statements);
  }

  /** What the model can't be shown is said: by itself where there is more to answer, else without a call. */
  async function answerWithFiles(turn: Turn, agent: Agent, chosen: TurnModel): Promise<void> {
    const { agentId, platform, content, attempts } = turn.entry;
    const fetch = deps.fetcherOf(platform);
    if (!fetch) return answer(turn, agent, chosen);
    const files = attachmentsOf(turn.entry.attachments);
    const takes = await ai.inputsOf(chosen);
    const opened = await openFiles({ agentId, files, takes, fetch, again: attempts < 2, signal: turn.signal });
    const reply = ({ parts, closed }: Opened) =>
      parts.length === 0 && closed.length > 0 && isBare(content)
        ? settle(turn, agent, { text: closed.join(" "), steps: [] }, [])
        : answer(turn, agent, chosen, { parts, closed });
    try {
      await reply(opened);
    } catch (error) {
      const texts = opened.parts.filter(({ type }) => type === "text");
      if (turn.calls !== 1 || texts.length === opened.parts.length || !isRefused(error)) throw error;
      agents.log(agentId, "warning", `${turn.model} refused a file; it is answered without.`, "runtime");
      await reply({ parts: texts, closed: [...opened.closed, UNREADABLE] });
    } finally {
      opened.release();
    }
  }

  async function answer(turn: Turn, agent: Agent, chosen: TurnModel, files?: Opened): Promise<void> {
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
    const [tools, knowledge, history, cache] = await Promise.all([
      skills.toolsFor(agent.id, audience.byOwner),
      skills.instructionsFor({ ...audience, text: entry.content }),
      boundedHistory(sessions, entry.sessionId, {
        contextWindow,
        signal,
        summarizer: chosen.demo ? undefined : { language, reserve },
      }),
      ai.turnCache(agent, chosen),
    ]);
    const preview = waiter?.observer ? undefined : deps.previewOf(entry);
    let result: TurnResult;
    try {
      result = await runTurn({
        model: language,
        prompt: buildPrompt({ agent, settings, entry, knowledge, history, files }),
        tools,
        toolContext: { ...audience, userId: agent.userId, sessionId: entry.sessionId, inboxId: entry.id },
        settings: sampling(settings),
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
    const { spending, usage, latencyMs } = result.last;
    try {
      await settle(turn, agent, result, [spending.settle(usage, latencyMs)]);
    } catch (error) {
      // The reply was not kept, but it was paid for.
      await spending.record(usage, latencyMs);
      throw error;
    }
  }

  async function settle(turn: Turn, agent: Agent, said: Said, also: Statement[]): Promise<void> {
    const reply = await settling.settle(turn, agent, said, also);
    turn.waiter?.resolve(reply);
  }

  async function failed(turn: Turn, queued: InboxEntry, thrown: unknown): Promise<Ran> {
    const { entry, signal, waiter, model, key } = turn;
    // Its rows are gone with it.
    if (!(await agents.find(entry.agentId))) {
      waiter?.reject(removed());
      return undefined;
    }
    // Somebody else settled it already: there is nothing left to do.
    if (thrown instanceof GuardFailed) {
      waiter?.reject(new AppError(409, "ALREADY_SETTLED", "This message was answered or given up elsewhere."));
      return undefined;
    }
    if (isStopped(thrown)) {
      waiter?.reject(thrown);
      // Who is told that it was refused must not be answered later.
      if (waiter) await database.write([inbox.settled(entry, "failed", "AGENT_STOPPED")]);
      return "pause";
    }
    if (signal.reason === STOPPING) {
      waiter?.reject(kept());
      return undefined;
    }
    if (signal.reason === INTERRUPTED) {
      waiter?.reject(interrupted());
      return { again: 0 };
    }
    if (signal.reason === CANCELLED) {
      await settling.close(turn, "cancelled");
      waiter?.reject(new AppError(409, "CANCELLED", "The reply was cancelled."));
      return undefined;
    }
    const failure = failureOf(thrown, model, key);
    agents.log(entry.agentId, "error", failure.reason, "runtime");
    if (failure.error.status === 500) {
      log.error("a turn failed", { agentId: entry.agentId, inboxId: entry.id, error: thrown });
    }
    if (waiter) {
      await settling.close(turn, "failed", failure);
      waiter.reject(failure.error);
      return undefined;
    }
    if (failure.again && queued.attempts < MAX_ATTEMPTS) {
      // The next try goes on with the preview that is there already.
      queued.previewId = entry.previewId;
      await database.write(inbox.tried([queued]));
      return { again: failure.after ?? retryDelays[queued.attempts - 1] ?? retryDelays.at(-1) ?? LONGEST_DELAY };
    }
    const parked = failure.again || failure.error.code === "PARKED";
    await settling.close(turn, parked ? "parked" : "failed", failure);
    return undefined;
  }

  return run;
}

const isStopped = (thrown: unknown) => thrown instanceof AppError && thrown.code === "AGENT_STOPPED";

function sampling({ temperature, topP, maxTokens }: AgentSettings) {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  };
}
