// Makes an agent with its channels in one write. Without a session, a placeholder account owns it until it is claimed.
import { AppError } from "../../src/kernel/errors.ts";
import type { KeepStatements } from "../../src/kernel/http/idempotency.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import { type auth, type CallerCredential, credentialStillValidStatements, toUnauthorized } from "../auth/index.ts";
import type { channels as channelsPlugin, VerifiedToken } from "../channels/index.ts";
import type { streams as streamsPlugin } from "../streams/index.ts";
import { requireAnonymousAllowed } from "./anonymous-caller.ts";
import type { Claims } from "./claims.ts";
import type { ClaimResponse, ProvisionResponse } from "./model.ts";
import type { ProvisionRequest } from "./provision-request.ts";
import { toProvisionResponse } from "./provision-response.ts";

export interface ProvisionCaller extends CallerCredential {
  isAdmin: boolean;
}

export interface Provisioning {
  /**
   * Checks all tokens with their platforms, then makes the agent with its bots, key, live stream and, without a session,
   * its claim: all or nothing. Throws the errors of `ChannelService.verifyTokens`, 409 `CHANNEL_IN_USE` (with `claimUrl`
   * for an unclaimed agent with exactly these tokens), 401 without an account if ANONYMOUS_PROVISIONING is off, and for signed-in callers the refusals of provisioning and 401 if
   * their session ended meanwhile. `responseStatements` keep the answer in the same write. If the caller disconnects
   * before that, nothing is made, because no other answer would name the agent.
   */
  make(
    caller: ProvisionCaller,
    provisionRequest: ProvisionRequest,
    responseStatements: KeepStatements,
    signal: AbortSignal,
  ): Promise<ProvisionResponse>;
  /**
   * Transfers the agent of this token to an account, once, in whatever cells they are. 404 `CLAIM_NOT_FOUND`; by the rules of
   * provisioning 402 and 429, and 503 while one of the accounts moves, after which the token stays valid.
   */
  claim(caller: ProvisionCaller, token: string, responseStatements: KeepStatements): Promise<ClaimResponse>;
  /** Removes agents that were not claimed in time, with their bots. */
  removeExpired(): Promise<void>;
}

const EXPIRY_BATCH_SIZE = 50;

export interface ProvisioningDeps extends Pick<Kernel, "config" | "database" | "log" | "cells"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "provision" | "transfer" | "find" | "remove" | "credentials" | "views">;
  channels: Pick<
    ServiceOf<typeof channelsPlugin>,
    | "verifyTokens"
    | "roomStatements"
    | "toLimitError"
    | "connectStatements"
    | "usingBots"
    | "toInUseError"
    | "findAgentsByTokens"
  >;
  streams: Pick<ServiceOf<typeof streamsPlugin>, "createStatements" | "streaming">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerConfig">;
  placeholderAccounts: ServiceOf<typeof auth>["placeholderAccounts"];
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  claims: Claims;
}

export function createProvisioning(deps: ProvisioningDeps): Omit<Provisioning, "claim"> {
  const { config, database, log, agents, channels, streams, ai, placeholderAccounts, claims } = deps;

  async function make(
    caller: ProvisionCaller,
    provisionRequest: ProvisionRequest,
    responseStatements: KeepStatements,
    signal: AbortSignal,
  ): Promise<ProvisionResponse> {
    const { tokens, aiProvider, apiKey, plan } = provisionRequest;
    if (caller.userId === "") requireAnonymousAllowed(config);
    const verified = await channels.verifyTokens(tokens);
    signal.throwIfAborted();
    const holder = caller.userId === "" ? placeholderAccounts.createStatements("Unclaimed agent") : undefined;
    const claim = holder && claims.issue(holder.id);
    const userId = holder?.id ?? caller.userId;
    const room = holder ? [] : await channels.roomStatements(userId, { count: verified.length });
    const provider = ai.providerConfig(aiProvider);
    let answer: ProvisionResponse | undefined;
    const newAgent: Parameters<typeof agents.provision>[0] = {
      userId,
      // Limits do not apply to placeholder accounts, whose plan stays `free`.
      isAdmin: caller.isAdmin || holder !== undefined,
      name: agentNameOf(verified),
      model: "custom",
      config: JSON.stringify({ model: `${aiProvider}:${provider.model}` }),
      tier: plan,
      status: "active",
      statementsBefore: [...(holder?.statements ?? credentialStillValidStatements(caller)), ...room],
      statementsAfter(agentId, agentRow) {
        const stream = streams.createStatements(agentId);
        const url = agents.views.publicUrl(agentRow.subdomain);
        const { streaming } = streams;
        const responseParts = {
          userId,
          agentRow,
          url,
          provisionRequest,
          provider,
          stream: stream.addresses,
          streaming,
          claimUrl: claim?.url,
        };
        answer = toProvisionResponse(responseParts);
        return [
          ...channels.connectStatements(agentId, verified),
          ...(apiKey === undefined ? [] : [agents.credentials.setStatement(agentId, aiProvider, apiKey, "apiKey")]),
          ...stream.statements,
          ...(claim ? [claim.insertStatement(agentId)] : []),
          ...responseStatements({ status: 201, body: JSON.stringify(answer) }),
        ];
      },
    };
    try {
      await channels.usingBots(verified, () => agents.provision(newAgent));
    } catch (error) {
      const limited = await channels.toLimitError(error, userId);
      if (limited !== error) throw limited;
      throw await withClaimUrl(toUnauthorized(await channels.toInUseError(error, verified)), verified);
    }
    if (!answer) throw new Error("The agent was made, but there is no answer.");
    return answer;
  }

  /**
   * Adds the link of an unclaimed agent to the refusal of a second try. The caller has the tokens of all its bots, and may
   * not have received the first answer with the link.
   */
  async function withClaimUrl(error: unknown, verified: readonly VerifiedToken[]): Promise<unknown> {
    if (!(error instanceof AppError && error.code === "CHANNEL_IN_USE")) return error;
    for (const agentId of await channels.findAgentsByTokens(verified)) {
      const claimUrl = await claims.linkOf(agentId);
      const text = `${error.message} That agent is not claimed yet: open the link in claimUrl to make it yours.`;
      if (claimUrl !== undefined) return new AppError(409, error.code, text, { claimUrl }, { cause: error });
    }
    return error;
  }

  async function removeExpired(): Promise<void> {
    for (;;) {
      const expired = await claims.listExpired(EXPIRY_BATCH_SIZE);
      for (const { agentId, holderId } of expired) {
        // The agent is removed first: after a crash in between, the claim still names the account to delete.
        await agents.remove(agentId);
        await database.write([placeholderAccounts.deleteStatement(holderId)]);
        log.info("an unclaimed agent was removed", { agentId });
      }
      if (expired.length < EXPIRY_BATCH_SIZE) return;
    }
  }

  return { make, removeExpired };
}

/** The agent is named after its first bot, without characters that names may not have. */
function agentNameOf(verified: readonly VerifiedToken[]): string {
  const given = verified[0]?.bot.username ?? "";
  const name = given.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "").trim();
  return [...name].slice(0, 64).join("").trim() || "Agent";
}
