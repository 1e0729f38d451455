// From an accepted message to a settled reply: the turn of one inbox entry, and the one write that ends it.

import { GuardFailed, guard, type Statement } from "../../src/database.ts";
import { AppError } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { Agent, AgentSettings, agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin, TurnModel } from "../ai/index.ts";
import type { skills as skillsPlugin } from "../skills/index.ts";
import { runCommand } from "./commands.ts";
import { boundedHistory, buildPrompt } from "./context.ts";
import { type Failure, failureOf } from "./failures.ts";
import type { Inbox, InboxEntry } from "./inbox.ts";
import type { Outbox } from "./outbox.ts";
import type { Sessions } from "./sessions.ts";
import { type Observer, runTurn, type Step, type TurnResult } from "./turn.ts";

/** Milliseconds a whole turn may take, tools and all. */
const TURN_LIMIT = 10 * 60_000;
/** Tries before an entry is parked. */
const MAX_ATTEMPTS = 5;
/** Milliseconds between tries, where the provider names none. */
const RETRY_DELAYS = [1_000, 5_000, 30_000, 120_000];

/** A settled turn, as its entrance tells it. */
export interface Reply {
  inboxId: string;
  sessionId: string;
  reply: string;
  /** Epoch ms. */
  timestamp: number;
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
  inbox: Inbox;
  sessions: Sessions;
  outbox: Outbox;
  /** The model that answers for an agent now. */
  chooseModel(agent: Agent): Promise<TurnModel>;
  /** Who waits for this entry, if anybody does. */
  waiterOf(entry: InboxEntry): Waiter | undefined;
  /** Shows a growing reply on the entry's platform. */
  previewOf(entry: InboxEntry): (Observer & { end(): Promise<string | undefined> }) | undefined;
  /** Aborts when Berth stops and when the conversation is told to stop. */
  signalOf(entry: InboxEntry): AbortSignal;
}

/** Runs one entry to its end. Answers `again` when it should be tried once more after so many ms; never rejects. */
export function createEngine(deps: Deps) {
  const { agents, ai, skills, inbox, sessions, outbox, chooseModel, database, events, log } = deps;

  async function run(entry: InboxEntry): Promise<{ again: number } | undefined> {
    const waiter = deps.waiterOf(entry);
    let model = "its model";
    let agent: Agent | undefined;
    try {
      agent = await agents.find(entry.agentId);
      // A stopped agent's messages stay in the inbox until it is started.
      if (!agent || agent.status === "stopped") throw stopped();
      if (entry.kind === "command") {
        const { reply, statements } = await runCommand({ sessions, chooseModel }, agent, entry);
        await settle(entry, agent, { text: reply, steps: [] }, statements);
        return undefined;
      }
      count(entry);
      const chosen = await chooseModel(agent);
      model = chosen.label;
      await answer(entry, agent, chosen, waiter);
      return undefined;
    } catch (thrown) {
      try {
        return await failed(entry, agent, thrown, model, waiter);
      } catch (error) {
        // Our own storage is in trouble: the entry is still pending, so nothing is lost.
        log.error("a failed turn could not be recorded", { agentId: entry.agentId, error });
        waiter?.reject(error);
        return waiter ? undefined : { again: RETRY_DELAYS.at(-1) ?? 0 };
      }
    }
  }

  /** So that a message that brings the process down each time is noticed. Not worth waiting for. */
  function count(entry: InboxEntry): void {
    entry.attempts++;
    database.write([inbox.began(entry)]).catch((error: unknown) => log.error("a try was not counted", { error }));
  }

  async function answer(entry: InboxEntry, agent: Agent, chosen: TurnModel, waiter: Waiter | undefined): Promise<void> {
    const signal = AbortSignal.any([
      deps.signalOf(entry),
      AbortSignal.timeout(TURN_LIMIT),
      ...(waiter ? [waiter.signal] : []),
    ]);
    signal.throwIfAborted();
    const started = performance.now();
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
    const language = await ai.languageModel(chosen);
    const [tools, knowledge, history] = await Promise.all([
      skills.toolsFor(agent.id, audience.byOwner),
      skills.instructionsFor({ ...audience, text: entry.content }),
      boundedHistory(sessions, entry.sessionId, { ...chosen, language, canSummarize: !chosen.demo }, signal),
    ]);
    const prompt = buildPrompt({ agent, settings, entry, knowledge, history });
    const preview = waiter?.observer ? undefined : deps.previewOf(entry);
    const spending = ai.reserve({
      agent,
      model: chosen,
      budget: settings.budget,
      prompt,
      maxTokens: settings.maxTokens,
    });
    let result: TurnResult;
    try {
      result = await runTurn({
        model: language,
        prompt,
        tools,
        toolContext: { ...audience, userId: agent.userId, sessionId: entry.sessionId, inboxId: entry.id },
        settings: sampling(settings),
        observer: waiter?.observer ?? preview,
        signal,
      });
    } catch (error) {
      (await spending).release();
      throw error;
    }
    const previewId = (await preview?.end()) ?? entry.previewId;
    const paid = (await spending).settle(result.usage, Math.round(performance.now() - started));
    await settle({ ...entry, previewId }, agent, result, [paid]);
  }

  /** The one write that ends a turn. A second one for the same entry is refused by the guard, whatever happened between. */
  async function settle(entry: InboxEntry, agent: Agent, said: { text: string; steps: Step[] }, also: Statement[]) {
    const now = Date.now();
    const { id: inboxId, sessionId, agentId, platform } = entry;
    const text = said.text.trim() === "" ? "(no answer)" : said.text;
    const replyId = Bun.randomUUIDv7();
    const steps = said.steps.length > 0 ? JSON.stringify(said.steps) : undefined;
    await database.write([
      inbox.settled(entry, "done", { replyId }),
      guard("settled"),
      ...sessions.append({ id: sessionId, agentId, platform, inboxId }, [
        asked(entry),
        { id: replyId, role: "assistant", content: text, steps, at: now },
      ]),
      ...also,
      ...delivery(entry, text),
      events.record("agent.message", {
        userId: agent.userId,
        agentId,
        data: { agentId, sessionId, platform, inboxId },
      }),
    ]);
    deps.waiterOf(entry)?.resolve({ inboxId, sessionId, reply: text, timestamp: now });
  }

  /** Replies to channels go through the outbox; the others are waited for. */
  function delivery(entry: InboxEntry, body: string): Statement[] {
    const { id: inboxId, agentId, platform, peer, previewId } = entry;
    if (peer === null || !platform.startsWith("channel_")) return [];
    const replyTo = entry.kind === "reminder" ? null : entry.platformMessageId;
    return [outbox.put({ inboxId, agentId, platform, peer, body, replyTo, previewId })];
  }

  async function failed(
    entry: InboxEntry,
    agent: Agent | undefined,
    thrown: unknown,
    model: string,
    waiter: Waiter | undefined,
  ): Promise<{ again: number } | undefined> {
    // Somebody else settled it already: there is nothing left to do.
    if (thrown instanceof GuardFailed) return undefined;
    if (isStopped(thrown)) {
      waiter?.reject(thrown);
      return undefined;
    }
    if (deps.signalOf(entry).aborted && deps.signalOf(entry).reason === STOPPING) {
      waiter?.reject(
        new AppError(503, "STOPPING", "Berth is stopping. The message is kept and will be answered after the start."),
      );
      return undefined;
    }
    if (deps.signalOf(entry).aborted || waiter?.signal.aborted) {
      await close(entry, "cancelled");
      waiter?.reject(new AppError(499, "CANCELLED", "The reply was cancelled."));
      return undefined;
    }
    const failure = failureOf(thrown, model);
    agents.log(entry.agentId, "error", failure.reason, "runtime");
    if (failure.error.status === 500)
      log.error("a turn failed", { agentId: entry.agentId, inboxId: entry.id, error: thrown });
    if (waiter) {
      await close(entry, "failed", failure);
      waiter.reject(failure.error);
      return undefined;
    }
    if (failure.again && entry.attempts < MAX_ATTEMPTS) {
      return { again: failure.after ?? RETRY_DELAYS[entry.attempts - 1] ?? RETRY_DELAYS.at(-1) ?? 0 };
    }
    await close(entry, failure.again ? "parked" : "failed", failure, agent);
    return undefined;
  }

  /** Ends an entry without a reply of the model; on a channel the person is told. */
  async function close(entry: InboxEntry, status: "failed" | "cancelled" | "parked", failure?: Failure, agent?: Agent) {
    const notice = `Sorry, I can't answer right now.${failure ? ` ${failure.error.message}` : ""}`;
    const { sessionId: id, agentId, platform, id: inboxId } = entry;
    try {
      await database.write([
        inbox.settled(entry, status, { error: failure?.error.code }),
        guard("settled"),
        ...sessions.append({ id, agentId, platform, inboxId }, [asked(entry)]),
        ...(agent && failure ? delivery(entry, notice) : []),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  return run;
}

/** What the user said, as the session keeps it: under the id of the inbox entry. */
const asked = ({ id, content, receivedAt }: InboxEntry) => ({ id, role: "user" as const, content, at: receivedAt });

/** The reason of a signal that aborts because the process ends: the entry stays pending. */
export const STOPPING = new DOMException("Berth is stopping.", "AbortError");

const stopped = () =>
  new AppError(409, "AGENT_STOPPED", "This agent is stopped. Start it, then send the message again.");
const isStopped = (thrown: unknown) => thrown instanceof AppError && thrown.code === "AGENT_STOPPED";

function sampling({ temperature, topP, maxTokens }: AgentSettings) {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
  };
}
