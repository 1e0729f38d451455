// What became of each part of a file that is imported, and what was left out.

import type { NoteCode, ReportRow } from "../../../plugins/lifecycle/takeover/report.ts";
import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import { Status } from "../../parts/values/status.tsx";
import { formatNumber, type Text, t, text } from "../../viewer/language.ts";

const NOTES: Readonly<Record<NoteCode, Text>> = {
  INSTRUCTIONS: text("Part of the instructions"),
  NAME: text("The agent's name"),
  MEMORIES: text("Memories"),
  SKILL: text("A skill, switched off"),
  SCHEDULE: text("Schedules, switched off"),
  GREETING: text("The greeting of the public page, which is off"),
  ALLOW_LIST: text("Allow lists, without effect until you open the channel to them"),
  TIMEZONE: text("The time zone"),
  MODEL: text("The model of your own choice; the agent begins with the server's"),
  CUT: text("Only the beginning: it is longer than an agent's instructions may be"),
  SOME_MEMORIES: text("Only the first ones: an agent has no room for more memories"),
  SECRETS_REMOVED: text("Secrets in the texts were blacked out: set them again as credentials"),
  SECRETS: text("Secrets are not taken: set them again as credentials"),
  NOTHING_IN_IT: text("There is nothing in it"),
  UNREADABLE: text("It can't be read"),
  UNKNOWN_MODEL: text("This server has no such provider: choose a model"),
  MCP_SERVERS: text("Add MCP servers again on the agent's page Skills; a command only if the operator lists it"),
  NO_EQUIVALENT: text("Berth has nothing like it"),
  CONNECT_ANEW: text("Connect channels again: their tokens are not taken"),
  PLUGINS: text("Plugins are programs of the other service: look for a skill or an MCP server instead"),
  MACHINE: text("It describes the machine that the agent ran on"),
  FIRST_RUN: text("It is for the first start, which is over"),
  NOT_AN_ID: text("Names are not taken, since people can change them: add ids"),
  UNSUPPORTED_TIMES: text("Berth has no such times: make it again as a schedule"),
  FILES: text("Files are not taken: add them as the agent's files"),
  OTHER_WORKSPACE: text("Another agent: import its folder by itself"),
  CONFIG_OUTSIDE: text("Not in this folder: give the folder above it to take over allow lists, model and schedules"),
  FOR_PEOPLE: text("It is meant for people who choose a character"),
  PICTURES: text("Agents have no pictures"),
  TOO_LARGE: text("It is too large"),
  LINK: text("Links are not followed"),
  SKILL_EXISTS: text("You have a skill of this name already"),
  SKILL_REFUSED: text("The skill can't be installed"),
};

const isNote = (code: string): code is NoteCode => Object.hasOwn(NOTES, code);

export function Report({ rows }: { rows: readonly ReportRow[] }) {
  const taken = rows.filter((row) => row.taken);
  const left = rows.filter((row) => !row.taken);
  return (
    <div className="flex flex-col gap-4">
      {taken.length > 0 && <Rows title={t("Taken over")} tone="good" rows={taken} />}
      {left.length > 0 && <Rows title={t("Not taken over")} tone="idle" rows={left} />}
    </div>
  );
}

interface RowsProps {
  title: string;
  tone: "good" | "idle";
  rows: readonly ReportRow[];
}

const Rows = ({ title, tone, rows }: RowsProps) => (
  <section>
    <h3 className="mb-1 font-medium">
      <Status tone={tone}>{title}</Status>
    </h3>
    <ul className="divide-y divide-edge rounded-large border border-line">
      {rows.map(({ source, code, note, count }) => (
        <li key={`${source} ${code}`} className="grid gap-x-4 px-3 py-1.5 sm:grid-cols-[minmax(0,14rem)_minmax(0,1fr)]">
          <span className="break-words font-mono text-sm [overflow-wrap:anywhere]">{visibleText(source)}</span>
          <span className="text-soft">
            {isNote(code) ? t(NOTES[code]) : note}
            {count !== null && ` (${formatNumber(count)})`}
          </span>
        </li>
      ))}
    </ul>
  </section>
);
