// Writes docs/events.md: `bun plugins/webhooks/documentation.ts`. A test fails when the page is out of date. Documentation alone
// imports this file.

import { join } from "node:path";
import { EVENT_TYPES, type EventType } from "./event-types.ts";

export const pagePath = join(import.meta.dir, "../../docs/events.md");

interface Description {
  /** What has happened. */
  when: string;
  /** The members of `data`. */
  data: string;
}

const ACCOUNT = "`id`, `email`, `name`, `plan`, `createdAt`";
const APPROVAL = "`id`, `agentId`, `tool`, `class`";
const SCHEDULE = "`agentId`, `scheduleId`, `name`, `runId`";

/** The compiler asks for a row for each type. */
const DESCRIPTIONS: Record<EventType, Description> = {
  "user.created": { when: "An account was made.", data: ACCOUNT },
  "user.updated": { when: "An account got another address, name or plan.", data: ACCOUNT },
  "user.deleted": { when: "An account was deleted. It is the last event of its endpoints.", data: ACCOUNT },
  "user.frozen": { when: "An admin has frozen an account: its agents are paused.", data: `${ACCOUNT}, \`reason\`` },
  "user.unfrozen": { when: "A frozen account goes on, and so do its agents.", data: ACCOUNT },
  "agent.created": { when: "An agent was created.", data: "`id`, `name`, `model`, `status`, `createdAt`" },
  "agent.claimed": { when: "An agent that was made without an account is yours now.", data: "`id`, `name`" },
  "agent.status": {
    when: "An agent has another state, such as `running` or `stopped`.",
    data: "`id`, `name`, `status`, `reason`",
  },
  "agent.updated": {
    when: "An agent has another name, model or configuration, or a bot of it another owner.",
    data: "`id`, `name`, `changed`: which of `name`, `model`, `config`, `channels`",
  },
  "agent.deleted": { when: "An agent was deleted.", data: "`id`, `name`" },
  "agent.message": {
    when: "An agent has answered. The text is not part of it.",
    data: "`agentId`, `sessionId`, `platform`, `inboxId`; `files` if it [sent](sent-files.md) some, each with `id`, `name`, `type`, `size`, `kind`, and the `url` at which you fetch it",
  },
  "agent.verified": {
    when: "An agent was verified.",
    data: "`id`, `name`, `verificationType`, `attestationUid`, `verifiedAt`",
  },
  "approval.requested": {
    when: "A tool call waits for the [owner's approval](approvals.md). The input is not part of it.",
    data: `${APPROVAL}, \`expiresAt\``,
  },
  "approval.decided": { when: "Such a call was approved, denied, or has expired.", data: `${APPROVAL}, \`decision\`` },
  "channel.state": {
    when: "A bot connected, or lost its platform.",
    data: "`agentId`, `channel`, `state`, `reason`, `problem`",
  },
  "channel.pairing": {
    when: "Somebody asks to talk to an agent, or was approved, denied or removed. The code is not part of it.",
    data: "`agentId`, `channel`, `senderId`, `name`, `status`",
  },
  "channel.undelivered": { when: "A reply did not reach its reader.", data: "`agentId`, `channel`, `reason`" },
  "file.state": {
    when: "A [file](files.md) is queued, read, ready, or failed; while it is read, after each 1,000 passages.",
    data: "`agentId`, `fileId`, `name`, `status`, `written`, `expected`, `chunks`, `error`",
  },
  "mcp.state": {
    when: "An [MCP server](mcp.md) of an agent works, fails, wants a sign-in, or has other tools.",
    data: "`agentId`, `name`, `state`, `tools`: their number",
  },
  "schedule.started": { when: "A [schedule](schedules.md) runs.", data: SCHEDULE },
  "schedule.ended": {
    when: "The run has ended; again, with the status `failed`, if its answer is given up undelivered.",
    data: `${SCHEDULE}, \`status\`; \`reply\` if it delivers to webhooks`,
  },
  "schedule.paused": { when: "A schedule failed five times in a row.", data: `${SCHEDULE}, \`reason\`` },
  "stream.state": {
    when: "A [live stream](streams.md) started or ended.",
    data: "`agentId`, `liveStreamId`, `state`, `reason`",
  },
  "payment.received": {
    when: "A [payment](billing.md) for a plan or for credits has arrived.",
    data: "`id`, `kind`: `plan` or `credits`, `amount` in the smallest unit of `currency` (for `usdc` millionths), `credits`",
  },
  "payment.returned": {
    when: "Money went back to a payer, or a bank disputes it; the credits were taken back. Positive: a dispute was won.",
    data: "`id`, `kind`: `refund`, `amount`, `currency`, `credits`",
  },
  "trial.ending": { when: "A trial of a plan ends in three days.", data: "`plan`, `endsAt`" },
  "backup.completed": {
    when: "A [backup](backups.md) of the whole service was made and verified. Only admins and the operator get these.",
    data: "`name`, `bytes`, `verified`: `opened` or `checksum`, `seconds`",
  },
  "backup.failed": { when: "A backup could not be made, or is not what was written.", data: "`name`, `error`" },
  "backup.late": {
    when: "The backup that `BACKUP_SCHEDULE` asks for has been missing for an hour.",
    data: "`expectedAt`, `newestAt`: when the newest good one was made, or null",
  },
  "backup.copy_late": {
    when: "The [continuous copy](backups.md#to-any-moment) has stood still for a minute.",
    data: "`copiedAt`: the last moment that can be restored, `error`: why, or null",
  },
  "budget.exceeded": {
    when: "A call was refused by a budget; once per budget and day or month.",
    data: "`of` (`agent`, `account`, `public`, or `unpaid` for all accounts without a paid subscription together), `agentId`, `period`, `limitUsd`, `spentUsd`, `resetsAt`",
  },
};

/** The page with a table for each noun of the types. */
export function eventsPage(): string {
  const groups = Map.groupBy(EVENT_TYPES, (type) => type.split(".")[0] ?? "");
  const sections = [...groups].map(([noun, types]) => {
    const rows = types.map((type) => `| \`${type}\` | ${DESCRIPTIONS[type].when} | ${DESCRIPTIONS[type].data} |`);
    return [`## ${noun}`, "", "| Type | When | `data` |", "|---|---|---|", ...rows].join("\n");
  });
  return `# Events

Berth reports what happens to programs: by POST to an address of yours, or as a stream that you keep open. [Webhooks](webhooks.md) says how.
Each event is an object:

| Member | |
|---|---|
| \`type\` | one of the types below. Where types are chosen, \`agent.*\` stands for all of a noun and \`*\` for all |
| \`timestamp\` | when it happened (ISO 8601) |
| \`data\` | what the table says. It never holds a secret |

You receive the events of your own account and agents; endpoints of admins receive everybody's. Events are kept for 30 days.

<!-- made by \`bun plugins/webhooks/documentation.ts\` from plugins/webhooks/event-types.ts -->

${sections.join("\n\n")}
`;
}

if (import.meta.main) await Bun.write(pagePath, eventsPage());
