// Says what of a file of another program became part of the agent, and what did not.
import { type Static, t } from "elysia";

/** What became of a part. The console translates the texts; a new one needs its German there. */
const NOTES = {
  INSTRUCTIONS: "Part of the instructions",
  NAME: "The agent's name",
  MEMORIES: "Memories",
  SKILL: "A skill, switched off",
  SCHEDULE: "Schedules, switched off",
  GREETING: "The greeting of the public page, which is off",
  ALLOW_LIST: "Allow lists, without effect until you open the channel to them",
  TIMEZONE: "The time zone",
  MODEL: "The model of your own choice; the agent begins with the server's",
  CUT: "Only the beginning: it is longer than an agent's instructions may be",
  SOME_MEMORIES: "Only the first ones: an agent has no room for more memories",
  SECRETS_REMOVED: "Secrets in the texts were blacked out: set them again as credentials",
  SECRETS: "Secrets are not taken: set them again as credentials",
  NOTHING_IN_IT: "There is nothing in it",
  UNREADABLE: "It can't be read",
  UNKNOWN_MODEL: "This server has no such provider: choose a model",
  MCP_SERVERS: "Add MCP servers again on the agent's page Skills; a command only if the operator lists it",
  NO_EQUIVALENT: "Berth has nothing like it",
  CONNECT_ANEW: "Connect channels again: their tokens are not taken",
  PLUGINS: "Plugins are programs of the other service: look for a skill or an MCP server instead",
  MACHINE: "It describes the machine that the agent ran on",
  FIRST_RUN: "It is for the first start, which is over",
  NOT_AN_ID: "Names are not taken, since people can change them: add ids",
  UNSUPPORTED_TIMES: "Berth has no such times: make it again as a schedule",
  FILES: "Files are not taken: add them as the agent's files",
  OTHER_WORKSPACE: "Another agent: import its folder by itself",
  CONFIG_OUTSIDE: "Not in this folder: give the folder above it to take over allow lists, model and schedules",
  FOR_PEOPLE: "It is meant for people who choose a character",
  PICTURES: "Agents have no pictures",
  TOO_LARGE: "It is too large",
  LINK: "Links are not followed",
  SKILL_EXISTS: "You have a skill of this name already",
  SKILL_REFUSED: "The skill can't be installed",
} as const;

export type NoteCode = keyof typeof NOTES;

export const reportRow = t.Object(
  {
    source: t.String({ description: "The file, or the field of it" }),
    taken: t.Boolean(),
    count: t.Union([t.Integer(), t.Null()], { description: "How many, where there are several" }),
    code: t.String(),
    note: t.String({ description: "What became of it, or why it was left out" }),
  },
  { title: "ImportReportRow" },
);
export type ReportRow = Static<typeof reportRow>;

/** Rows of a report; a file may have thousands of parts. */
const MAX_ROWS = 200;
const MAX_SOURCE = 120;

export type Report = ReturnType<typeof createReport>;

export function createReport() {
  const rows: ReportRow[] = [];
  const add = (taken: boolean, source: string, code: NoteCode, count: number | null = null) => {
    if (rows.length < MAX_ROWS) rows.push(rowOf(taken, source, code, count));
  };
  return {
    rows,
    took: (source: string, code: NoteCode, count?: number) => add(true, source, code, count),
    left: (source: string, code: NoteCode, count?: number) => add(false, source, code, count),
  };
}

export const rowOf = (taken: boolean, source: string, code: NoteCode, count: number | null = null): ReportRow => ({
  source: source.replace(/\p{C}/gu, "").slice(0, MAX_SOURCE).toWellFormed(),
  taken,
  count,
  code,
  note: NOTES[code],
});
