// An agent with its channels, made in one write: without a session it is held until somebody claims it.
import { GuardFailed } from "../../src/database.ts";
import { AppError, notFound } from "../../src/errors.ts";
import type { Keep } from "../../src/idempotency.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai as aiPlugin } from "../ai/index.ts";
import { type auth, type LetIn, orSignedOut, standing } from "../auth/index.ts";
import type { CheckedToken, channels as channelsPlugin } from "../channels/index.ts";
import type { streams as streamsPlugin } from "../streams/index.ts";
import { toProvisioned } from "./answer.ts";
import type { Claims } from "./claims.ts";
import type { Claimed, Provisioned } from "./model.ts";
import type { Wanted } from "./request.ts";

export interface Asker extends LetIn {
  isAdmin: boolean;
}

export interface Provisioning {
  /**
   * Checks all tokens with their platforms, then makes the agent with its bots, key, live stream and, for nobody, its claim:
   * all or nothing. Throws what `Channels.check` does, 409 `CHANNEL_IN_USE` (with `claimUrl` for an agent of just these
   * tokens that nobody has claimed), and for somebody the refusals of provisioning
   * and 401 where what they came with was ended while the platforms were asked.
   * `keep`: the answer, kept in the same write. Nothing is made for a caller who went away before that: nobody else would
   * ever be told of it.
   */
  make(asker: Asker, wanted: Wanted, keep: Keep, signal: AbortSignal): Promise<Provisioned>;
  /**
   * Gives the agent of this token to an account, once. 404 `CLAIM_NOT_FOUND`, and by the rules of provisioning 402 and 429:
   * then the token stays good.
   */
  claim(asker: Asker, token: string, keep: Keep): Promise<Claimed>;
  /** Removes the agents that nobody claimed in time, with their bots. */
  expire(): Promise<void>;
}

const EXPIRED_AT_ONCE = 50;

interface Deps extends Pick<Kernel, "database" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "provision" | "move" | "find" | "remove" | "credentials" | "views">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "check" | "connecting" | "orInUse" | "servedWith">;
  streams: Pick<ServiceOf<typeof streamsPlugin>, "creating" | "streaming">;
  ai: Pick<ServiceOf<typeof aiPlugin>, "providerConfig">;
  holders: ServiceOf<typeof auth>["holders"];
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  claims: Claims;
}

export function createProvisioning(deps: Deps): Provisioning {
  const { database, log, agents, channels, streams, ai, holders, users, claims } = deps;

  async function make(asker: Asker, wanted: Wanted, keep: Keep, signal: AbortSignal): Promise<Provisioned> {
    const { tokens, aiProvider, apiKey, plan } = wanted;
    const checked = await channels.check(tokens);
    signal.throwIfAborted();
    const holder = asker.userId === "" ? holders.make("Unclaimed agent") : undefined;
    const claim = holder && claims.issue(holder.id);
    const userId = holder?.id ?? asker.userId;
    const provider = ai.providerConfig(aiProvider);
    let answer: Provisioned | undefined;
    try {
      await agents.provision({
        userId,
        // Who holds an agent for nobody has room for it; the plan stays `free`.
        isAdmin: asker.isAdmin || holder !== undefined,
        name: nameOf(checked),
        model: "custom",
        config: JSON.stringify({ model: `${aiProvider}:${provider.model}` }),
        tier: plan,
        status: "active",
        first: holder?.statements ?? standing(asker),
        also(agentId, made) {
          const stream = streams.creating(agentId);
          const url = agents.views.publicUrl(made.subdomain);
          const { streaming } = streams;
          const told = {
            userId,
            made,
            url,
            wanted,
            provider,
            stream: stream.addresses,
            streaming,
            claimUrl: claim?.url,
          };
          answer = toProvisioned(told);
          return [
            ...channels.connecting(agentId, checked),
            ...(apiKey === undefined ? [] : [agents.credentials.putting(agentId, aiProvider, apiKey, "apiKey")]),
            ...stream.statements,
            ...(claim ? [claim.keeping(agentId)] : []),
            ...keep({ status: 201, body: JSON.stringify(answer) }),
          ];
        },
      });
    } catch (error) {
      throw await orUnclaimed(orSignedOut(await channels.orInUse(error, checked)), checked);
    }
    if (!answer) throw new Error("The agent was made without an answer.");
    return answer;
  }

  /**
   * Whoever has the tokens of an agent's bots is its owner, and may be without its link because the answer with it never
   * came: the refusal of the second try tells it.
   */
  async function orUnclaimed(error: unknown, checked: readonly CheckedToken[]): Promise<unknown> {
    if (!(error instanceof AppError && error.code === "CHANNEL_IN_USE")) return error;
    for (const agentId of await channels.servedWith(checked)) {
      const claimUrl = await claims.linkOf(agentId);
      const text = `${error.message} Nobody has claimed that one yet: open the link in claimUrl to make it yours.`;
      if (claimUrl !== undefined) return new AppError(409, error.code, text, { claimUrl }, { cause: error });
    }
    return error;
  }

  async function claim(asker: Asker, token: string, keep: Keep): Promise<Claimed> {
    const { userId, isAdmin } = asker;
    const found = await claims.find(token);
    const [agent, holder] = found ? await Promise.all([agents.find(found.agentId), users.byId(found.holderId)]) : [];
    // One that an admin has disabled is not let out by a change of its owner.
    if (!found || !agent || holder?.disabledAt !== null) throw noClaim();
    const { id, name, subdomain } = agent;
    const answer: Claimed = { success: true, agentId: id, id, name, url: agents.views.publicUrl(subdomain) };
    try {
      await agents.move({
        agentId: id,
        from: found.holderId,
        to: { userId, isAdmin },
        first: [...standing(asker), ...claims.use(token)],
        also: [holders.end(found.holderId), ...keep({ status: 200, body: JSON.stringify(answer) })],
      });
    } catch (error) {
      // Somebody else was faster.
      throw error instanceof GuardFailed && error.guard === "claim" ? noClaim() : orSignedOut(error);
    }
    return answer;
  }

  async function expire(): Promise<void> {
    for (;;) {
      const late = await claims.expired(EXPIRED_AT_ONCE);
      for (const { agentId, holderId } of late) {
        // The agent first: a kill in between leaves the claim, which says what is still to be cleared away.
        await agents.remove(agentId);
        await database.write([holders.end(holderId)]);
        log.info("an agent that nobody claimed was removed", { agentId });
      }
      if (late.length < EXPIRED_AT_ONCE) return;
    }
  }

  return { make, claim, expire };
}

/** Agents are called as their first bot is, as far as that can be a name. */
function nameOf(checked: readonly CheckedToken[]): string {
  const given = checked[0]?.bot.username ?? "";
  const name = given.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "").trim();
  return [...name].slice(0, 64).join("").trim() || "Agent";
}

const noClaim = () =>
  notFound("This link was used already, is too old, or never was one. Provision the agent again.", "CLAIM_NOT_FOUND");
