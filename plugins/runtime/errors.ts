// Defines the errors that callers get instead of a reply, and lists their codes for the API documents.
import { AppError, notFound } from "../../src/kernel/errors.ts";
import { type Agent, agentFrozenError, isFrozen } from "../agents/index.ts";

/** The errors with which a message to an agent can be rejected or can fail, by status. */
export const TURN_ERRORS = {
  400: ["SESSION_ELSEWHERE"],
  402: ["BUDGET_EXCEEDED", "PRICE_UNKNOWN"],
  404: ["AGENT_NOT_FOUND", "SESSION_NOT_FOUND"],
  409: ["AGENT_STOPPED", "AGENT_FROZEN", "CANCELLED", "ALREADY_SETTLED"],
  502: "MODEL_UNAVAILABLE",
  503: ["STOPPING", "AGENT_CHANGING", "PRICE_UNAVAILABLE"],
};

export const noAgentError = () =>
  new AppError(404, "NO_AGENT", "You have no agent yet. Create one with POST /api/agents/provision.");
/** For an agent whose status is `stopped`: by its owner, or frozen by an admin. */
export const agentStoppedError = (agent?: Pick<Agent, "thawedStatus">) =>
  agent && isFrozen(agent)
    ? agentFrozenError()
    : new AppError(409, "AGENT_STOPPED", "This agent is stopped. Start it, then send the message again.");
export const shutdownError = () =>
  new AppError(503, "STOPPING", "Berth is stopping. The message is kept and will be answered after the start.");
export const agentChangingError = () =>
  new AppError(503, "AGENT_CHANGING", "The agent is being changed. The message is kept and will be answered after it.");
export const agentDeletedError = () => notFound("This agent was deleted.", "AGENT_NOT_FOUND");
export const cancelledError = () => new AppError(409, "CANCELLED", "The reply was cancelled.");
export const alreadySettledError = () =>
  new AppError(409, "ALREADY_SETTLED", "This message was answered or given up elsewhere.");
/** Why a turn does not go on now. */
export const waitingForApproval = () =>
  new AppError(409, "WAITING_FOR_APPROVAL", "The agent waits for its owner's approval.");
/** For a message during whose turn the process ended again and again. */
export const parkedError = () => new AppError(500, "PARKED", "This message could not be answered after several tries.");
