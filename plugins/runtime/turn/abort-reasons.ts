// Defines the reasons with which the signal of a turn aborts; the reason decides what happens to the inbox entry.

/** The process ends: the entry stays pending. */
export const ABORT_SHUTDOWN = new DOMException("Berth is stopping.", "AbortError");
/** The caller left or gave `/stop`, or the agent was deleted: the entry is settled as cancelled. */
export const ABORT_CANCELLED = new DOMException("The reply was cancelled.", "AbortError");
/** The agent is being changed: the entry runs again afterwards. */
export const ABORT_AGENT_CHANGING = new DOMException("The agent is being changed.", "AbortError");
