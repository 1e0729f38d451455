// Transfers the agent of a claim to an account, once. Where the two are in different cells, the placeholder account moves to the
// claimer's cell first, and the claim is made there. If any process is killed meanwhile, the link goes on to work.
import { currentActor } from "../../src/kernel/audit/current-actor.ts";
import type { Cells } from "../../src/kernel/cells/cells.ts";
import { cellOfToken } from "../../src/kernel/cells/marks.ts";
import { GuardFailed } from "../../src/kernel/database/database.ts";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { KeepStatements } from "../../src/kernel/http/idempotency.ts";
import { sha256Hex } from "../../src/kernel/util/tokens.ts";
import { type CallerCredential, credentialStillValidStatements, toUnauthorized } from "../auth/index.ts";
import { CLAIM_QUESTION } from "./claims.ts";
import type { ClaimResponse } from "./model.ts";
import type { ProvisioningDeps } from "./provisioning.ts";

export interface Claimer extends CallerCredential {
  isAdmin: boolean;
}

/** What a cell says of a claim: where it is, that it is on its way, or that there is none. */
type Place = { holder: string; cell: number } | { elsewhere: number } | "moving" | null;

/** How long a claim waits for an account that is on its way. */
const WAIT_MS = 15_000;
const LOOK_MS = 200;
/** A placeholder account rarely moves twice before it is claimed. */
const MAX_HOPS = 8;
/** What another claimer of the same link, or the end of the claim, makes of a move. */
const LOST_RACE = new Set(["ACCOUNT_MOVING", "USER_NOT_FOUND"]);

/** The claim of a token in this cell; an agent whose placeholder account an admin has disabled can't be claimed. */
async function findHere({ claims, agents, users }: ProvisioningDeps, token: string) {
  const found = await claims.find(token);
  const [agent, holder] = found ? await Promise.all([agents.find(found.agentId), users.byId(found.holderId)]) : [];
  return found && agent && holder?.disabledAt === null ? { ...found, agent } : undefined;
}

/** What this cell knows of a claim. */
export async function placeOfClaim(deps: ProvisioningDeps, token: string): Promise<Place> {
  const { cells } = deps;
  // Asked first: an account that arrives in between has its rows by then.
  if (await cells?.isMoving([sha256Hex(token)])) return "moving";
  const found = await findHere(deps, token);
  if (found) return { holder: found.holderId, cell: cells?.here ?? 0 };
  const elsewhere = await cells?.movedTo([sha256Hex(token)]);
  return elsewhere === undefined || elsewhere === cells?.here ? null : { elsewhere };
}

/** Asks the cell that made the token, then those to which the placeholder account has moved. */
async function locate(deps: ProvisioningDeps, token: string): Promise<Exclude<Place, { elsewhere: number }>> {
  const { cells } = deps;
  const ask = async (cells: Cells, cell: number) => JSON.parse(await cells.ask(cell, CLAIM_QUESTION, token)) as Place;
  let place = await placeOfClaim(deps, token);
  if (!cells) return place === null || place === "moving" || "holder" in place ? place : null;
  const made = cellOfToken(token);
  if (place === null && made !== cells.here && cells.others.includes(made)) place = { elsewhere: made };
  for (let hop = 0; place !== null && place !== "moving" && "elsewhere" in place; hop++) {
    if (hop === MAX_HOPS) return "moving";
    const { elsewhere } = place;
    place = elsewhere === cells.here ? await placeOfClaim(deps, token) : await ask(cells, elsewhere);
  }
  return place;
}

/** Throws 404 `CLAIM_NOT_FOUND`, 503 `ACCOUNT_MOVING` if the accounts don't come to rest, and the refusals of provisioning. */
export async function claimAgent(
  deps: ProvisioningDeps,
  caller: Claimer,
  token: string,
  responseStatements: KeepStatements,
): Promise<ClaimResponse> {
  const here = deps.cells?.here ?? 0;
  for (const until = performance.now() + WAIT_MS; performance.now() < until; ) {
    const place = await locate(deps, token);
    if (place === null) throw claimNotFound();
    if (place === "moving") await Bun.sleep(LOOK_MS);
    else if (place.cell !== here) {
      if (!(await bring(deps.cells, place.holder))) await Bun.sleep(LOOK_MS);
    } else {
      const answer = await claimHere(deps, caller, token, responseStatements);
      if (answer) return answer;
      await Bun.sleep(deps.cells ? LOOK_MS : 0);
    }
  }
  throw claimMoving();
}

/** Moves the placeholder account here; false if it moves already, or was claimed meanwhile. */
async function bring(cells: Cells | undefined, holder: string): Promise<boolean> {
  try {
    await cells?.bring(holder, currentActor());
    return true;
  } catch (error) {
    if (error instanceof AppError && LOST_RACE.has(error.code)) return false;
    throw error;
  }
}

/** Undefined if another account has claimed the agent meanwhile, or one of the accounts is on its way to another cell. */
async function claimHere(
  deps: ProvisioningDeps,
  caller: Claimer,
  token: string,
  responseStatements: KeepStatements,
): Promise<ClaimResponse | undefined> {
  const { agents, channels, claims, placeholderAccounts } = deps;
  const { userId, isAdmin } = caller;
  const found = await findHere(deps, token);
  if (!found) return undefined;
  const { id, name, subdomain } = found.agent;
  const answer: ClaimResponse = { success: true, agentId: id, id, name, url: agents.views.publicUrl(subdomain) };
  try {
    await agents.transfer({
      agentId: id,
      from: found.holderId,
      to: { userId, isAdmin },
      statementsBefore: [
        ...credentialStillValidStatements(caller),
        ...claims.useStatements(token, userId),
        ...(await channels.roomStatements(userId, { agentId: id })),
      ],
      statementsAfter: [
        placeholderAccounts.deleteStatement(found.holderId),
        ...responseStatements({ status: 200, body: JSON.stringify(answer) }),
      ],
    });
  } catch (error) {
    const limited = await channels.toLimitError(error, userId);
    if (limited !== error) throw limited;
    if (error instanceof GuardFailed && error.guard === "claim") return undefined;
    throw toUnauthorized(error);
  }
  return answer;
}

const claimNotFound = () =>
  notFound("This link was used already, has expired or is invalid. Provision the agent again.", "CLAIM_NOT_FOUND");

const claimMoving = () =>
  new AppError(
    503,
    "ACCOUNT_MOVING",
    "This agent or your account is being moved within the service. The link stays valid: try again in some seconds.",
    { retryAfter: 2 },
  );
