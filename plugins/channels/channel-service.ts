// Connects and disconnects bots: stores a token whose platform has confirmed it, and unregisters webhooks.
import type { ChannelId } from "../../channels/port.ts";
import { isChannelId } from "../../channels/registry.ts";
import { type Name, usingNames } from "../../src/kernel/cells/cells.ts";
import type { Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { KeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { agentNotFound, type agents as agentsPlugin } from "../agents/index.ts";
import { type CallerCredential, credentialStillValidStatements, toUnauthorized } from "../auth/index.ts";
import type { Pairings } from "./access/pairings.ts";
import type { Adapters } from "./adapters.ts";
import type { ChannelQuota } from "./channel-quota.ts";
import type { ChannelState, ChannelStates } from "./channel-states.ts";
import type { ConnectionStore } from "./connections/connection-store.ts";
import type { OpenConnection, OpenConnections } from "./connections/open-connections.ts";
import type { Supervisor } from "./connections/supervisor.ts";
import { type SubmittedCredentials, secretValues, toTokenText } from "./submitted-credentials.ts";
import {
  type CheckedToken,
  createTokenChecks,
  type SubmittedToken,
  type TokenOfBot,
  type VerifiedToken,
} from "./token-checks.ts";

export interface ConnectRequest extends SubmittedCredentials {
  /** The owner's id on the platform; if left out, the earlier one stays. */
  ownerId?: string | undefined;
}

export interface ChannelService extends ChannelQuota, ChannelStates {
  /** Asks the platform which bot a token belongs to, and stores nothing; the errors of `connect`. */
  checkToken(userId: string, agentId: string, channel: ChannelId, token: string): Promise<CheckedToken>;
  /**
   * Connects a bot that waits for its next try at once. 409 `CHANNEL_FAILED`, `CHANNEL_BUSY` or `AGENT_STOPPED` if trying
   * would be useless or harmful.
   */
  retry(agentId: string, channel: ChannelId): Promise<ChannelState>;
  /**
   * Checks the token with the platform, stores it and connects. 400 `INVALID_CHANNEL_TOKEN`,
   * 409 `CHANNEL_IN_USE`, 429 `CHANNEL_LIMIT_REACHED`, 502 `CHANNEL_UNREACHABLE`; then nothing was changed. The caller's rights are checked again after
   * the platform has answered (401, 404, 409 `OPERATION_IN_PROGRESS`).
   */
  connect(
    caller: CallerCredential,
    agentId: string,
    channel: ChannelId,
    request: ConnectRequest,
  ): Promise<ChannelState>;
  /**
   * Checks tokens with their platforms. 400 `INVALID_CHANNEL_TOKEN` with the fields of all that belong to no bot;
   * 502 `CHANNEL_UNREACHABLE`.
   */
  verifyTokens(tokens: readonly SubmittedToken[]): Promise<VerifiedToken[]>;
  /** Connects a new agent, in the batch that creates it. Pass the error of a failed batch to `toInUseError`. */
  connectStatements(agentId: string, verified: readonly VerifiedToken[]): Statement[];
  /** 409 `CHANNEL_IN_USE` if a batch failed because one of these bots serves another agent, else the error itself. */
  toInUseError(error: unknown, verified: readonly VerifiedToken[]): Promise<unknown>;
  /** Does the write that connects them; pass its error to `toInUseError`. */
  usingBots<T>(verified: readonly VerifiedToken[], write: () => Promise<T>): Promise<T>;
  /** The agents that have some of these bots and no others, with exactly these tokens. */
  findAgentsByTokens(verified: readonly VerifiedToken[]): Promise<string[]>;
  /** Forgets the bot and its token; false if there was none. */
  disconnect(agentId: string, channel: ChannelId): Promise<boolean>;
  /** Restarts all connections of an agent, failed ones too. */
  reconnect(agentId: string): Promise<void>;
  /** Before an agent is deleted: opens its bots while their tokens still exist. Never rejects. */
  beforeAgentRemoval(agentId: string): Promise<void>;
  /** After an agent was deleted: releases its bots, as far as that is still possible. */
  afterAgentRemoval(agentId: string, channels: readonly ChannelId[]): Promise<void>;
}

/** The refusals of a try, by the problem of the connection. */
const RETRY_REFUSALS: Readonly<Record<string, [code: string, message: string]>> = {
  refused: ["CHANNEL_FAILED", "The platform refused this bot for good. Connect it again with a new token."],
  busy: ["CHANNEL_BUSY", "The platform asked to wait. It is tried again by itself."],
  agent_stopped: ["AGENT_STOPPED", "This agent is stopped. Start it, and its bots connect."],
};

const UNREGISTER_TIMEOUT_MS = 3_000;

/** A bot serves one agent of the whole service. */
const botName = ({ channel, bot }: Pick<VerifiedToken, "channel" | "bot">): Name => ({
  kind: "bot",
  name: `${channel} ${bot.id}`,
});

interface Deps extends Pick<Kernel, "database" | "log" | "cells" | "audit"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "credentials" | "recheckOwnership">;
  adapters: Adapters;
  connections: ConnectionStore;
  quota: ChannelQuota;
  states: ChannelStates;
  openConnections: OpenConnections;
  pairings: Pairings;
  supervisor: Supervisor;
  inAgentQueue: KeyedQueue;
}

export function createChannelService(deps: Deps): ChannelService {
  const {
    database,
    agents,
    adapters,
    connections,
    quota,
    states,
    openConnections,
    pairings,
    supervisor,
    inAgentQueue,
    log,
    cells,
    audit,
  } = deps;
  const tokens = createTokenChecks({ adapters, connections, agents });
  cells?.registerNames("bot", async (name) => {
    const [channel = "", ...botId] = name.split(" ");
    return isChannelId(channel) && (await connections.findAgentByBot(channel, botId.join(" "))) !== undefined;
  });

  const auditStatement = (done: "connect" | "disconnect", agent: { id: string; name: string }, details: object) =>
    audit.record({ action: `channel.${done}`, target: { kind: "agent", ...agent }, details: { ...details } });
  const nameOf = async (agentId: string) => (await agents.find(agentId))?.name ?? "";

  /** Stores a connection. The caller's rights are checked again, because the platform may have taken long to answer. */
  async function store(
    caller: CallerCredential,
    agentId: string,
    { channel, bot, token, ownerId }: TokenOfBot,
  ): Promise<void> {
    await agents.recheckOwnership(agentId, caller.userId);
    const owner = (await agents.find(agentId))?.userId ?? caller.userId;
    const room = await quota.roomStatements(owner, { agentId, channel, count: 1 });
    const target = { id: agentId, name: await nameOf(agentId) };
    try {
      await usingNames(cells, [botName({ channel, bot })], () =>
        database.write([
          ...credentialStillValidStatements(caller),
          ...room,
          connections.putStatement(agentId, channel, bot, token, ownerId),
          auditStatement("connect", target, { channel, bot: bot.username }),
        ]),
      );
    } catch (error) {
      const limited = await quota.toLimitError(error, owner);
      if (limited !== error) throw limited;
      const reason = toUnauthorized(await connections.toInUseError(error, [{ channel, bot }]));
      if (reason instanceof AppError || (await agents.find(agentId))) throw reason;
      throw agentNotFound();
    }
  }

  /** Releases a bot: unregisters its webhook, if it has one, and drops its state. A failure is only logged. */
  async function releaseBot(openConnection: OpenConnection | undefined): Promise<void> {
    if (!openConnection) return;
    const { adapter, binding, mode } = openConnection;
    try {
      if (mode === "webhook") await adapter.webhook?.unregister(binding, AbortSignal.timeout(UNREGISTER_TIMEOUT_MS));
    } catch (error) {
      log.debug("unregistering a webhook failed", { agentId: binding.agentId, error });
    }
    adapter.forget(binding);
  }

  async function connect(
    caller: CallerCredential,
    agentId: string,
    channel: ChannelId,
    request: ConnectRequest,
  ): Promise<void> {
    const { ownerId } = request;
    const secret = toTokenText(channel, request);
    for (const value of secretValues(channel, secret)) log.redactSecret(value);
    const bot = await tokens.identify(channel, secret);
    await inAgentQueue(agentId, async () => {
      const earlier = await openConnections.find(agentId, channel);
      // The connection holds the token's digest and is written first: a crash in between leaves a connection that asks to
      // be connected again, never a bot with another bot's token.
      await store(caller, agentId, { channel, bot, token: secret, ownerId });
      openConnections.drop(agentId, channel);
      await agents.credentials.set({ kind: "agent", id: agentId }, channel, secret);
      await supervisor.stopConnection(agentId, channel);
      if (earlier && earlier.binding.bot.id !== bot.id) await releaseBot(earlier);
      await supervisor.reconcile(agentId, "connecting");
    });
    await supervisor.waitForFirstOutcome(agentId, channel);
  }

  return {
    ...quota,
    ...states,
    verifyTokens: tokens.verify,
    toInUseError: connections.toInUseError,
    usingBots: (verified, write) => usingNames(cells, verified.map(botName), write),
    findAgentsByTokens: connections.findAgentsByTokens,

    connectStatements(agentId, verified) {
      const begin = () => {
        inAgentQueue(agentId, () => supervisor.reconcile(agentId, "connecting")).catch((error: unknown) =>
          log.error("reconciling an agent's channels failed", { agentId, error }),
        );
      };
      const rows = verified.map(({ channel, bot, token, ownerId }) =>
        connections.putStatement(agentId, channel, bot, token, ownerId),
      );
      return [
        // Runs before the hooks of the tokens, which would not know that the bot is connected for the first time.
        ...rows.map((row, at) => (at === 0 ? { ...row, after: begin } : row)),
        ...verified.map(({ channel, token, field }) => agents.credentials.setStatement(agentId, channel, token, field)),
        // The new agent's name is in the entry about its creation, which precedes this one.
        ...verified.map(({ channel, bot }) =>
          auditStatement("connect", { id: agentId, name: "" }, { channel, bot: bot.username }),
        ),
      ];
    },

    checkToken: tokens.check,

    async retry(agentId, channel) {
      const isTried = await inAgentQueue(agentId, async () => {
        const before = await states.get(agentId, channel);
        const refusal = RETRY_REFUSALS[before.problem ?? ""];
        if (refusal) throw new AppError(409, ...refusal);
        if (before.state !== "backing_off") return false;
        await supervisor.stopConnection(agentId, channel);
        await supervisor.reconcile(agentId, "backing_off");
        return true;
      });
      if (isTried) await supervisor.waitForFirstOutcome(agentId, channel);
      return states.get(agentId, channel);
    },

    async connect(caller, id, channel, request) {
      await connect(caller, id, channel, request);
      const state = (await states.list(id)).find((one) => one.channel === channel);
      if (!state) throw new AppError(409, "CHANNEL_GONE", "The channel was disconnected as soon as it was connected.");
      return state;
    },

    disconnect: (agentId, channel) =>
      inAgentQueue(agentId, async () => {
        const openConnection = await openConnections.find(agentId, channel);
        await supervisor.stopConnection(agentId, channel);
        // The secret is deleted first.
        await agents.credentials.set({ kind: "agent", id: agentId }, channel, "");
        const connected = await connections.find(agentId, channel);
        const target = { id: agentId, name: await nameOf(agentId) };
        const existed = await connections.remove(
          agentId,
          channel,
          connected ? [auditStatement("disconnect", target, { channel, bot: connected.botUsername })] : [],
        );
        openConnections.drop(agentId, channel);
        pairings.clearCache(agentId);
        await releaseBot(openConnection);
        return existed;
      }),

    reconnect: (agentId) =>
      inAgentQueue(agentId, async () => {
        for (const { channel, callbackId } of await connections.list(agentId)) {
          await supervisor.stopConnection(agentId, channel);
          await connections.setRegistration(callbackId, null, null);
          openConnections.drop(agentId, channel);
        }
        await supervisor.reconcile(agentId);
      }),

    async beforeAgentRemoval(agentId) {
      try {
        for (const { channel } of await connections.list(agentId)) await openConnections.find(agentId, channel);
      } catch (error) {
        log.error("opening a bot of an agent that is removed failed", { agentId, error });
      }
    },

    afterAgentRemoval: (agentId, channels) =>
      inAgentQueue(agentId, async () => {
        await supervisor.reconcile(agentId);
        pairings.clearCache(agentId);
        await Promise.all(channels.map((channel) => releaseBot(openConnections.drop(agentId, channel))));
      }),
  };
}
