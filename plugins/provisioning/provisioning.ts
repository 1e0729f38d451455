// An agent with its channels, made in one write: without a session it is held until somebody claims it.
import { GuardFailed } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { KeepStatements } from "../../src/kernel/http/idempotency.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import { type auth, type CallerCredential, credentialStillValidStatements, toUnauthorized } from "../auth/index.ts";
import type { channels as channelsPlugin, VerifiedToken } from "../channels/index.ts";
import type { streams as streamsPlugin } from "../streams/index.ts";
import type { Claims } from "./claims.ts";
import type { ClaimResponse, ProvisionResponse } from "./model.ts";
import type { ProvisionRequest } from "./provision-request.ts";
import { toProvisionResponse } from "./provision-response.ts";

export interface ProvisionCaller extends CallerCredential {
  isAdmin: boolean;
}

export interface Provisioning {
  /**
   * Checks all tokens with their platforms, then makes the agent with its bots, key, live stream and, for nobody, its claim:
   * all or nothing. Throws what `ChannelService.verifyTokens` does, 409 `CHANNEL_IN_USE` (with `claimUrl` for an agent of just these
   * tokens that nobody has claimed), and for somebody the refusals of provisioning
   * and 401 where what they came with was ended while the platforms were asked.
   * `responseStatements`: the answer, kept in the same write. Nothing is made for a caller who went away before that: nobody else would
   * ever be told of it.
   */
  make(
    caller: ProvisionCaller,
    provisionRequest: ProvisionRequest,
    responseStatements: KeepStatements,
    signal: AbortSignal,
  ): Promise<ProvisionResponse>;
  /**
   * Gives the agent of this token to an account, once. 404 `CLAIM_NOT_FOUND`, and by the rules of provisioning 402 and 429:
   * then the token stays good.
   */
  claim(caller: ProvisionCaller, token: string, responseStatements: KeepStatements): Promise<ClaimResponse>;
  /** Removes the agents that nobody claimed in time, with their bots. */
  removeExpired(): Promise<void>;
}

const EXPIRY_BATCH_SIZE = 50;

interface Deps extends Pick<Kernel, "database" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "provision" | "transfer" | "find" | "remove" | "credentials" | "views">;
  channels: Pick<
    ServiceOf<typeof channelsPlugin>,
    "verifyTokens" | "connectStatements" | "toInUseError" | "findAgentsByTokens"
  >;
  streams: Pick<ServiceOf<typeof streamsPlugin>, "createStatements" | "streaming">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerConfig">;
  placeholderAccounts: ServiceOf<typeof auth>["placeholderAccounts"];
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  claims: Claims;
}

export function createProvisioning(deps: Deps): Provisioning {
  const { database, log, agents, channels, streams, ai, placeholderAccounts, users, claims } = deps;

  async function make(
    caller: ProvisionCaller,
    provisionRequest: ProvisionRequest,
    responseStatements: KeepStatements,
    signal: AbortSignal,
  ): Promise<ProvisionResponse> {
    const { tokens, aiProvider, apiKey, plan } = provisionRequest;
    const verified = await channels.verifyTokens(tokens);
    signal.throwIfAborted();
    const holder = caller.userId === "" ? placeholderAccounts.createStatements("Unclaimed agent") : undefined;
    const claim = holder && claims.issue(holder.id);
    const userId = holder?.id ?? caller.userId;
    const provider = ai.providerConfig(aiProvider);
    let answer: ProvisionResponse | undefined;
    try {
      await agents.provision({
        userId,
        // Who holds an agent for nobody has room for it; the plan stays `free`.
        isAdmin: caller.isAdmin || holder !== undefined,
        name: agentNameOf(verified),
        model: "custom",
        config: JSON.stringify({ model: `${aiProvider}:${provider.model}` }),
        tier: plan,
        status: "active",
        statementsBefore: holder?.statements ?? credentialStillValidStatements(caller),
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
      });
    } catch (error) {
      throw await withClaimUrl(toUnauthorized(await channels.toInUseError(error, verified)), verified);
    }
    if (!answer) throw new Error("The agent was made without an answer.");
    return answer;
  }

  /**
   * Whoever has the tokens of an agent's bots is its owner, and may be without its link because the answer with it never
   * came: the refusal of the second try tells it.
   */
  async function withClaimUrl(error: unknown, verified: readonly VerifiedToken[]): Promise<unknown> {
    if (!(error instanceof AppError && error.code === "CHANNEL_IN_USE")) return error;
    for (const agentId of await channels.findAgentsByTokens(verified)) {
      const claimUrl = await claims.linkOf(agentId);
      const text = `${error.message} Nobody has claimed that one yet: open the link in claimUrl to make it yours.`;
      if (claimUrl !== undefined) return new AppError(409, error.code, text, { claimUrl }, { cause: error });
    }
    return error;
  }

  async function claim(
    caller: ProvisionCaller,
    token: string,
    responseStatements: KeepStatements,
  ): Promise<ClaimResponse> {
    const { userId, isAdmin } = caller;
    const found = await claims.find(token);
    const [agent, holder] = found ? await Promise.all([agents.find(found.agentId), users.byId(found.holderId)]) : [];
    // One that an admin has disabled is not let out by a change of its owner.
    if (!found || !agent || holder?.disabledAt !== null) throw claimNotFound();
    const { id, name, subdomain } = agent;
    const answer: ClaimResponse = { success: true, agentId: id, id, name, url: agents.views.publicUrl(subdomain) };
    try {
      await agents.transfer({
        agentId: id,
        from: found.holderId,
        to: { userId, isAdmin },
        statementsBefore: [...credentialStillValidStatements(caller), ...claims.useStatements(token)],
        statementsAfter: [
          placeholderAccounts.deleteStatement(found.holderId),
          ...responseStatements({ status: 200, body: JSON.stringify(answer) }),
        ],
      });
    } catch (error) {
      // Somebody else was faster.
      throw error instanceof GuardFailed && error.guard === "claim" ? claimNotFound() : toUnauthorized(error);
    }
    return answer;
  }

  async function removeExpired(): Promise<void> {
    for (;;) {
      const expired = await claims.listExpired(EXPIRY_BATCH_SIZE);
      for (const { agentId, holderId } of expired) {
        // The agent first: a kill in between leaves the claim, which says what is still to be cleared away.
        await agents.remove(agentId);
        await database.write([placeholderAccounts.deleteStatement(holderId)]);
        log.info("an agent that nobody claimed was removed", { agentId });
      }
      if (expired.length < EXPIRY_BATCH_SIZE) return;
    }
  }

  return { make, claim, removeExpired };
}

/** Agents are called as their first bot is, as far as that can be a name. */
function agentNameOf(verified: readonly VerifiedToken[]): string {
  const given = verified[0]?.bot.username ?? "";
  const name = given.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "").trim();
  return [...name].slice(0, 64).join("").trim() || "Agent";
}

const claimNotFound = () =>
  notFound("This link was used already, is too old, or never was one. Provision the agent again.", "CLAIM_NOT_FOUND");
