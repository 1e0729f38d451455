// One line of an agent's log. Its text may come from anybody, and is shown as text.

import type { ReactNode } from "react";
import type { LogLinks } from "../../../../plugins/agents/logs/log-links.ts";
import { visibleText } from "../../../../src/kernel/util/text/visible-text.ts";
import { Status, type Tone } from "../../../parts/values/status.tsx";
import { dayOf, formatTime, said, type Text, t, text } from "../../../viewer/language.ts";

/** A line of `GET /api/agents/:id/logs`. */
export interface LogLine {
  id: string;
  timestamp: string;
  level: string;
  message: string;
  source: string;
  links: LogLinks;
}

export const LEVELS: Readonly<Record<string, { label: Text; tone: Tone }>> = {
  debug: { label: text("Detail"), tone: "idle" },
  info: { label: text("Info"), tone: "busy" },
  warning: { label: text("Warning"), tone: "warn" },
  error: { label: text("Error"), tone: "bad" },
};

/** The parts of Berth that write lines. */
const SOURCES: Readonly<Record<string, Text>> = {
  ai: text("model"),
  approvals: text("approval"),
  channels: text("channel"),
  configuration: text("configuration"),
  gateway: text("gateway"),
  knowledge: text("file"),
  lifecycle: text("operation"),
  mcp: text("MCP"),
  memory: text("memory"),
  outbox: text("delivery"),
  runtime: text("turn"),
  schedules: text("schedule"),
  skills: text("skill"),
  stream: text("stream"),
  verification: text("verification"),
  webhooks: text("webhook"),
};
const sourceWords = (source: string): string => {
  const words = Object.hasOwn(SOURCES, source) ? SOURCES[source] : undefined;
  return words ? t(words) : source;
};

const TIME: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };

/** `children`: where the line leads. */
export function Line({
  line: { timestamp, level, source, message },
  children,
}: {
  line: LogLine;
  children: ReactNode;
}) {
  const time = new Date(timestamp);
  const isToday = dayOf(time.getTime()) === dayOf(Date.now());
  const shown = formatTime(time.getTime(), isToday ? TIME : { ...TIME, day: "2-digit", month: "2-digit" });
  const { label, tone } = LEVELS[level] ?? { label: undefined, tone: "idle" as const };
  return (
    <div className="grid items-start grid-cols-[auto_minmax(0,1fr)] gap-x-3 border-edge border-b px-3 py-1 text-sm hover:bg-hover md:grid-cols-[9rem_6rem_minmax(0,1fr)]">
      <time dateTime={timestamp} title={formatTime(time.getTime())} className="whitespace-nowrap text-soft">
        {shown}
      </time>
      <Status tone={tone}>{label ? t(label) : level}</Status>
      <p className="col-span-2 whitespace-pre-wrap break-words font-mono md:col-span-1">
        <span className="text-soft" title={source}>
          {sourceWords(source)}{" "}
        </span>
        {visibleText(said(message))}
        {children}
      </p>
    </div>
  );
}

/** A line as one would keep it in a file. */
export const lineAsText = ({ timestamp, level, source, message }: LogLine): string =>
  `${timestamp} ${level.toUpperCase()} ${source} ${message}`;
