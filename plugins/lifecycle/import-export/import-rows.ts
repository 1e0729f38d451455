// Validates an exported agent and converts it to the rows of a new agent.
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import { isTimeZone } from "../../../src/kernel/util/time-zone.ts";
import { MAX_IMPORTED_PASSAGES } from "../../knowledge/index.ts";
import { addEntries, type MessageRow, newSessionId, type SessionRow } from "../../runtime/index.ts";
import type { ScheduleRow } from "../../schedules/index.ts";
import { isWithinMemoryLimits, type ReminderRow, TAINT, toFactRow } from "../../skills/index.ts";
import { createExportedAgentSchema, EXPORT_FORMAT, type ExportedAgent } from "./export-format.ts";
import type { ExportedMessageFile, ImportedMessageFile } from "./exported-files.ts";

/**
 * The value as an exported agent; 400 `UNKNOWN_FORMAT` for another format, 400 with the path of each issue otherwise.
 */
export function requireExportedAgent(value: unknown, platforms?: readonly string[]): ExportedAgent {
  const format: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "format") : undefined;
  if (format !== EXPORT_FORMAT) {
    const text = `This is not an agent as Berth exports it: its format is ${EXPORT_FORMAT}.`;
    throw invalidInput({ path: "format", message: text }, "UNKNOWN_FORMAT");
  }
  const schema = createExportedAgentSchema(platforms);
  if (!Value.Check(schema, value)) throw invalidInput(issuesOf(schema, value));
  const issues = semanticIssues(value);
  if (issues.length > 0) throw invalidInput(issues);
  return value;
}

const MAX_ISSUES = 20;
/** Messages are read and written one by one, so a longer one would hold up everything else. No turn writes such a message. */
const MAX_MESSAGE_CHARACTERS = 1_000_000;

function issuesOf(schema: TSchema, value: unknown): Issue[] {
  const found = new Map<string, Issue>();
  for (const { path, message, schema: part } of Value.Errors(schema, value)) {
    const place = path.slice(1).replaceAll("/", ".");
    if (!found.has(place)) {
      found.set(place, { path: place, message: typeof part.error === "string" ? part.error : `${message}.` });
    }
    if (found.size === MAX_ISSUES) break;
  }
  return [...found.values()];
}

/** Issues that the schema can't express: invalid dates, limits, and sessions that conflict with each other. */
function semanticIssues({
  memories = [],
  sessions = [],
  reminders = [],
  schedules = [],
  files = [],
}: ExportedAgent): Issue[] {
  const issues: Issue[] = [];
  const times = [
    ...memories.flatMap(
      ({ createdAt, updatedAt }, n) =>
        [
          [createdAt, `memories.${n}.createdAt`],
          [updatedAt, `memories.${n}.updatedAt`],
        ] as const,
    ),
    ...reminders.map(({ at }, n) => [at, `reminders.${n}.at`] as const),
    ...schedules.flatMap(({ at }, n) => (at === null ? [] : [[at, `schedules.${n}.at`] as const])),
    ...sessions.flatMap(({ createdAt, lastActivity, messages }, n) => [
      [createdAt, `sessions.${n}.createdAt`] as const,
      [lastActivity, `sessions.${n}.lastActivity`] as const,
      ...messages.map(({ at }, m) => [at, `sessions.${n}.messages.${m}.at`] as const),
    ]),
  ];
  for (const [time, path] of times) {
    if (Number.isNaN(Date.parse(time))) issues.push({ path, message: "There is no such time." });
  }
  if (!isWithinMemoryLimits(memories))
    issues.push({ path: "memories", message: "These are more facts than an agent may keep." });
  if (files.reduce((sum, { passages }) => sum + passages.length, 0) > MAX_IMPORTED_PASSAGES)
    issues.push({ path: "files", message: `An agent may bring ${MAX_IMPORTED_PASSAGES} passages of files.` });
  for (const [n, { cron, at, timezone }] of schedules.entries()) {
    if ((cron === null) === (at === null))
      issues.push({ path: `schedules.${n}.cron`, message: "Give either cron or at." });
    if (!isTimeZone(timezone)) issues.push({ path: `schedules.${n}.timezone`, message: "There is no such time zone." });
  }
  const [ids, open] = [new Set<string>(), new Set<string>()];
  for (const [n, { id, platform, peer, status, summarized, messages }] of sessions.entries()) {
    const path = `sessions.${n}`;
    for (const [m, message] of messages.entries()) {
      if (lengthOf(message) <= MAX_MESSAGE_CHARACTERS) continue;
      const text = `A message has at most ${MAX_MESSAGE_CHARACTERS} characters, with what the agent did on the way.`;
      issues.push({ path: `${path}.messages.${m}`, message: text });
    }
    if (ids.has(id)) issues.push({ path: `${path}.id`, message: "Two sessions have this id." });
    ids.add(id);
    if (summarized > messages.length)
      issues.push({ path: `${path}.summarized`, message: "The session has fewer messages." });
    if (status !== "open" || peer === null) continue;
    const place = JSON.stringify([platform, peer]);
    if (open.has(place)) issues.push({ path: `${path}.peer`, message: "Two sessions are open with this peer." });
    open.add(place);
  }
  return issues.slice(0, MAX_ISSUES);
}

type ExportedMessage = NonNullable<ExportedAgent["sessions"]>[number]["messages"][number];
const lengthOf = ({ content, steps = [] }: ExportedMessage) =>
  steps.reduce((sum, { tool, input, result }) => sum + tool.length + input.length + result.length, content.length);

type ImportedData = Omit<ExportedAgent, "name" | "model" | "tier" | "responseCache" | "publicPage">;

/**
 * The rows of the new agent, with new ids. Times become epoch ms. All texts count as content from outside, and reminders
 * and schedules are switched off.
 */
export function toImportRows({
  skills = [],
  memories = [],
  reminders = [],
  schedules = [],
  files = [],
  sessions = [],
}: ImportedData) {
  const ids = new Map(sessions.map(({ id }) => [id, newSessionId()]));
  const sessionRows = sessions.map(
    ({ id, platform, peer, status, summary, summarized, createdAt, lastActivity }): SessionRow => ({
      id: ids.get(id) ?? "",
      ...{ platform, peer, status, summary, summarized, summaryTaint: TAINT.outside },
      at: Date.parse(createdAt),
      active: Date.parse(lastActivity),
    }),
  );
  const reminderRows = reminders.map(({ text, at, platform, peer, session, byOwner }): ReminderRow => {
    const [id, now] = [Bun.randomUUIDv7(), Date.now()];
    const sessionId = ids.get(session);
    // A reminder without a peer is delivered to its session; if the file doesn't have that one, to a new one.
    const fallbackSession = sessionId === undefined && peer === "" ? emptySession(newSessionId(), now) : undefined;
    if (fallbackSession) sessionRows.push(fallbackSession);
    return {
      id,
      session: sessionId ?? fallbackSession?.id ?? "",
      platform,
      peer,
      byOwner: byOwner ? 1 : 0,
      text,
      taint: TAINT.outside,
      enabled: 0,
      dedupe: id,
      due: Date.parse(at),
      at: now,
    };
  });
  const facts = memories.map(({ content, circle, source, kind, createdAt, updatedAt }) =>
    toFactRow({
      // Not pinned: the file's author has no say in every prompt.
      ...{ content, circle, source, taint: TAINT.outside, pinned: 0, turn: null, used: null },
      kind: kind ?? (circle === "" ? "owner" : "person"),
      ...{ at: Date.parse(createdAt), updated: Date.parse(updatedAt) },
    }),
  );
  const now = Date.now();
  const { messages, entries, files: messageFiles } = withEntries(messagesOf(sessions, ids));
  return {
    /** By skill, as the file has them. */
    switches: skills.map(({ id, enabled }): [skill: string, isEnabled: boolean] => [id, enabled]),
    /** The number of reminders that are still to come. */
    reminders: reminderRows.filter(({ due }) => due > now).length,
    schedules: schedules.length,
    scheduleRows: JSON.stringify(schedules.map(toScheduleRow)),
    files: files.length,
    fileRows: JSON.stringify(files.map(toFileRow)),
    messageFiles,
    runtime: { sessions: sessionRows, messages, entries },
    skills: {
      memories: JSON.stringify(facts.filter(({ content }) => content !== "")),
      reminders: JSON.stringify(reminderRows),
    },
  };
}

function toScheduleRow({
  name,
  prompt,
  cron,
  at,
  timezone,
  missed,
}: NonNullable<ImportedData["schedules"]>[number]): ScheduleRow {
  const now = Date.now();
  return {
    ...{ id: Bun.randomUUIDv7(), name, prompt, cron, when: at === null ? null : Date.parse(at), timezone, missed },
    ...{ deliver: null, enabled: 0, reason: null, taint: TAINT.outside, origin: "owner", digest: null, session: null },
    ...{ next: null, at: now, updated: now },
  };
}

/** Addresses are not read again until the owner says so. */
const toFileRow = (file: NonNullable<ImportedData["files"]>[number]) => ({
  ...file,
  ...{ id: Bun.randomUUIDv7(), refresh: null, digest: null, etag: null, error: null, code: null, read: null },
  ...{ status: file.passages.length > 0 ? "ready" : "queued", generation: file.passages.length > 0 ? 1 : 0 },
});

const emptySession = (id: string, now: number): SessionRow => ({
  id,
  platform: "web",
  peer: null,
  status: "open",
  summary: null,
  summaryTaint: TAINT.none,
  summarized: 0,
  at: now,
  active: now,
});

/** Messages of all sessions by time; within a session the order of the file is kept, also where times go back. */
function messagesOf(
  sessions: NonNullable<ExportedAgent["sessions"]>,
  ids: ReadonlyMap<string, string>,
): ImportedMessage[] {
  const placed = sessions.flatMap(({ id, platform, messages }) => {
    let place = 0;
    return messages.map(({ role, content, steps = [], files = [], at: time }) => {
      const at = Date.parse(time);
      place = Math.max(place, at);
      const stepsJson = steps.length > 0 ? JSON.stringify(steps) : null;
      const ofSession = { session: ids.get(id) ?? "", inbox: "", platform, taint: TAINT.outside };
      return {
        place,
        row: { seq: 0, id: Bun.randomUUIDv7(), ...ofSession, role, content, steps: stepsJson, at },
        files,
      };
    });
  });
  return placed.sort((one, other) => one.place - other.place).map(({ row, files }) => ({ ...row, files }));
}

type ImportedMessage = MessageRow & { files: ExportedMessageFile[] };

/** The messages with their entries, and apart from them their files, with the entries to which they belong. */
function withEntries(given: readonly ImportedMessage[]) {
  const { messages, entries } = addEntries(given);
  const files = messages.flatMap(({ inbox, role, files: own }): ImportedMessageFile[] =>
    own.map((file) => ({ ...file, inbox, isReply: role === "assistant" })),
  );
  return { messages: messages.map(({ files: _, ...row }) => row), entries, files };
}
