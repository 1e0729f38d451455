// How a turn ends otherwise than with a reply: the reasons it is broken off for, and what people are told.
import { AppError, notFound } from "../../../src/kernel/errors.ts";

/** The reason of a signal that aborts because the process ends: the entry stays pending. */
export const ABORT_SHUTDOWN = new DOMException("Berth is stopping.", "AbortError");
/** The reason of one that aborts because nobody wants the reply any more. */
export const ABORT_CANCELLED = new DOMException("The reply was cancelled.", "AbortError");
/** The reason of one that aborts because the agent is being changed under it: the entry is run again afterwards. */
export const ABORT_AGENT_CHANGING = new DOMException("The agent is being changed.", "AbortError");

export const agentStoppedError = () =>
  new AppError(409, "AGENT_STOPPED", "This agent is stopped. Start it, then send the message again.");
export const shutdownError = () =>
  new AppError(503, "STOPPING", "Berth is stopping. The message is kept and will be answered after the start.");
export const agentChangingError = () =>
  new AppError(503, "AGENT_CHANGING", "The agent is being changed. The message is kept and will be answered after it.");
export const agentDeletedError = () => notFound("This agent was deleted.", "AGENT_NOT_FOUND");
/** A message that took the process down with it, time and again. */
export const parkedError = () => new AppError(500, "PARKED", "This message could not be answered after several tries.");
