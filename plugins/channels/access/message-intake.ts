// Accepts messages from a channel's adapter: checks their senders, then stores them through the runtime (plugins/runtime/index.ts).
import { ChannelError, type ChannelId, type IncomingMessage, type Sink } from "../../../channels/port.ts";
import { AppError } from "../../../src/kernel/errors.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import { type agents as agentsPlugin, isFrozen, takesMessages } from "../../agents/index.ts";
import type { InboundMessage, runtime as runtimePlugin } from "../../runtime/index.ts";
import { TAINT } from "../../skills/index.ts";
import type { OpenConnection } from "../connections/open-connections.ts";
import type { OwnerNotices } from "../connections/owner-notices.ts";
import type { ResumePoints } from "../connections/resume-points.ts";
import { toStoredMessageId } from "../delivery/stored-message-id.ts";
import { UNSIGNED_POST_COST } from "../webhooks/webhook-rate-limiter.ts";
import { decideAccess } from "./access-decision.ts";
import type { OwnerCodes } from "./owner-codes.ts";
import type { Pairings } from "./pairings.ts";
import type { PauseNotices } from "./pause-notices.ts";

const NOTICE_TIMEOUT_MS = 20_000;

interface Deps extends Pick<Kernel, "log" | "metrics"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "settings">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "accept" | "areDeliveriesRecorded" | "readerLanguage">;
  pairings: Pairings;
  resumePoints: ResumePoints;
  reportLostReplies: OwnerNotices["reportLostReplies"];
  reportPairing: OwnerNotices["reportPairing"];
  ownerCodes: Pick<OwnerCodes, "take">;
  pauseNotices: Pick<PauseNotices, "tell">;
  /** Makes a person the owner of the bot. */
  claimBot(
    openConnection: OpenConnection,
    message: Pick<IncomingMessage, "sender" | "language" | "peer">,
  ): Promise<void>;
}

export interface MessageIntake {
  /** The sink for the adapter of this connection. */
  createSink(openConnection: OpenConnection, reportAlive?: () => void): Sink;
  /** Sends a notice outside any turn; false when the platform did not accept it. */
  sendNotice(openConnection: OpenConnection, peer: string, text: string): Promise<boolean>;
  /** Sends a notice in the background. */
  sendNoticeLater(openConnection: OpenConnection, peer: string, text: string): void;
  /** Aborts notices in flight and waits for their end. */
  stop(): Promise<void>;
}

export function createMessageIntake({
  agents,
  runtime,
  pairings,
  resumePoints,
  reportLostReplies,
  reportPairing,
  ownerCodes,
  pauseNotices,
  claimBot,
  log,
  metrics,
}: Deps): MessageIntake {
  const messageCounter = metrics.counter("berth_channel_messages_total", "Messages that came over channels.", [
    "channel",
    "outcome",
  ]);
  const stopping = new AbortController();
  const pendingWork = new Set<Promise<unknown>>();
  const counters = new Map<string, ReturnType<typeof messageCounter.labels>>();
  function count(channel: ChannelId, outcome: "accepted" | "refused"): void {
    const key = `${channel} ${outcome}`;
    let counter = counters.get(key);
    if (!counter) {
      counter = messageCounter.labels({ channel, outcome });
      counters.set(key, counter);
    }
    counter.inc();
  }

  async function accept(openConnection: OpenConnection, messages: IncomingMessage[]): Promise<void> {
    const { agentId } = openConnection.connection;
    const agent = await agents.find(agentId);
    // Rejected, so that the platform keeps the messages until the agent is started.
    if (!agent || !takesMessages(agent)) throw new AppError(409, "AGENT_STOPPED", "This agent is stopped.");
    const arrivals: InboundMessage[] = [];
    for (const message of messages) {
      const arrival = await admit(openConnection, message, isFrozen(agent));
      if (arrival) arrivals.push(arrival);
    }
    if (arrivals.length > 0) await runtime.accept(arrivals);
    if (!isFrozen(agent)) return;
    for (const { to, language } of arrivals) {
      if ("peer" in to) trackWork(openConnection, pauseNotices.tell(openConnection, to.peer, language));
    }
  }

  /** The message for the runtime; undefined when its sender has no access. A frozen agent makes nobody its owner or friend. */
  async function admit(
    openConnection: OpenConnection,
    message: IncomingMessage,
    isPaused: boolean,
  ): Promise<InboundMessage | undefined> {
    const { agentId, channel, ownerId } = openConnection.connection;
    const { sender, language, peer, group, text, attachments, repliesTo, quotesOthers } = message;
    const claim = group || sender.isUnproven || isPaused ? undefined : ownerCodes.take(agentId, channel, message);
    if (claim !== undefined) {
      // Not awaited: it reopens the connection that this message came over.
      if (claim === "taken") trackWork(openConnection, claimBot(openConnection, message));
      return undefined;
    }
    const settings = (await agents.settings(agentId)).channels?.[channel] ?? {};
    const decision = decideAccess(message, settings, ownerId);
    const isPaired = decision.kind === "needs-pairing" && (await pairings.isApproved(agentId, channel, sender.id));
    if (decision.kind === "allowed" || isPaired) {
      count(channel, "accepted");
      const byOwner = decision.kind === "allowed" && decision.byOwner;
      const platformMessageId = toStoredMessageId(openConnection.binding.bot, message.platformMessageId);
      const arrival = { agentId, platform: channel, platformMessageId, to: { peer }, sender, byOwner, group };
      return {
        ...arrival,
        language,
        content: text,
        ...(attachments ? { attachments } : {}),
        ...(repliesTo !== undefined && { repliesTo: toStoredMessageId(openConnection.binding.bot, repliesTo) }),
        ...(quotesOthers ? { taint: TAINT.outside } : {}),
      };
    }
    count(channel, "refused");
    const reason = decision.kind === "refused" ? decision.reason : "not paired";
    log.debug("a message was refused", { agentId, channel, sender: sender.id, reason });
    // In a group everybody could read the code.
    if (decision.kind === "needs-pairing" && !group && !isPaused) await offerPairing(openConnection, message);
    return undefined;
  }

  async function mayAnswer({ connection: { agentId, channel, ownerId } }: OpenConnection, message: IncomingMessage) {
    const settings = (await agents.settings(agentId)).channels?.[channel] ?? {};
    const decision = decideAccess(message, settings, ownerId);
    return decision.kind === "allowed" && decision.byOwner;
  }

  async function offerPairing(openConnection: OpenConnection, message: IncomingMessage): Promise<void> {
    const { agentId, channel } = openConnection.connection;
    const code = await pairings.requestCode(agentId, channel, message);
    if (code === undefined) return;
    const text = translateText(
      "I don't know you yet. If you want to talk to me, ask my owner to approve this code: {code}\nIt is good for one hour.",
      await runtime.readerLanguage(agentId, message.language),
      { code: `**${code}**` },
    );
    // Not awaited, so that the platform soon gets the confirmation of the message.
    trackWork(
      openConnection,
      sendNotice(openConnection, message.peer, text).then((isSent) => {
        const { id: senderId, name } = message.sender;
        if (!isSent) return pairings.withdrawCode(agentId, channel, senderId);
        return reportPairing({ agentId, channel, senderId, name, status: "pending" });
      }),
    );
  }

  function trackWork({ connection: { agentId } }: OpenConnection, work: Promise<unknown>): void {
    const tracked = work
      .catch((error: unknown) => log.error("work after a message failed", { agentId, error }))
      .finally(() => pendingWork.delete(tracked));
    pendingWork.add(tracked);
  }

  async function sendNotice({ adapter, binding }: OpenConnection, peer: string, text: string): Promise<boolean> {
    const message = { id: Bun.randomUUIDv7(), peer, text, attempts: 0, deliveredParts: [] };
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(NOTICE_TIMEOUT_MS)]);
    try {
      await adapter.send(binding, message, () => undefined, signal);
      return true;
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      log.debug("a notice was not delivered", { agentId: binding.agentId, reason: error.message });
      return false;
    }
  }

  return {
    createSink: (openConnection, reportAlive = () => undefined) => ({
      accept: (messages) => accept(openConnection, messages),
      reportAlive,
      mayAnswer: (message) => mayAnswer(openConnection, message),
      saveResumePoint: (resume) => resumePoints.save(openConnection, resume),
      areDeliveriesRecorded: (ids) => runtime.areDeliveriesRecorded(openConnection.connection.agentId, ids),
      reportUndelivered: (failures) => reportLostReplies(openConnection.connection, failures),
      countUnsignedPosts: (posts) => openConnection.rateLimiter.charge(posts * UNSIGNED_POST_COST - 1),
    }),
    sendNotice,
    sendNoticeLater: (openConnection, peer, text) => trackWork(openConnection, sendNotice(openConnection, peer, text)),
    async stop() {
      stopping.abort();
      await Promise.all(pendingWork);
    },
  };
}
