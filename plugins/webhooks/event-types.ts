// Lists the event types that webhooks and the event feed deliver. The console imports this file: it must import nothing of the server.

/** The types that are delivered; docs/events.md describes each one's data. */
export const EVENT_TYPES = [
  "user.created",
  "user.updated",
  "user.deleted",
  "user.frozen",
  "user.unfrozen",
  "agent.created",
  "agent.claimed",
  "agent.status",
  "agent.updated",
  "agent.deleted",
  "agent.message",
  "agent.verified",
  "approval.requested",
  "approval.decided",
  "channel.state",
  "channel.pairing",
  "channel.undelivered",
  "file.state",
  "mcp.state",
  "schedule.started",
  "schedule.ended",
  "schedule.paused",
  "stream.state",
  "budget.exceeded",
  "payment.received",
  "payment.returned",
  "trial.ending",
  "backup.completed",
  "backup.failed",
  "backup.late",
  "backup.copy_late",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
