// Draws the state of the service as lines of text, for any width. Rates come from two snapshots.
import type { LiveSnapshot } from "../../../../plugins/fleet/index.ts";

export interface ScreenOptions {
  columns: number;
  /** Lines that are shown at most. */
  rows: number;
  /** Whether colours are understood. */
  isColoured: boolean;
}

/** What happened between two snapshots, by second. */
export interface Rates {
  turns: number;
  failedTurns: number;
  requests: number;
  serverErrors: number;
  modelCalls: number;
  tokens: number;
  costUsd: number;
  /** Processors in use. */
  cpu: number;
}

type Level = "good" | "warning" | "bad" | "plain";
type Cell = readonly [label: string, value: string, level?: Level];

const COLOURS: Record<Level, string> = { good: "\x1b[32m", warning: "\x1b[33m", bad: "\x1b[31m", plain: "" };
const CELL_WIDTH = 26;

export function ratesBetween(before: LiveSnapshot, now: LiveSnapshot): Rates {
  const seconds = Math.max(0.001, (now.at - before.at) / 1000);
  // The service may have been restarted in between.
  const rate = (name: keyof LiveSnapshot["sums"]) => Math.max(0, now.sums[name] - before.sums[name]) / seconds;
  return {
    turns: rate("turns"),
    failedTurns: rate("failedTurns"),
    requests: rate("requests"),
    serverErrors: rate("serverErrors"),
    modelCalls: rate("modelCalls"),
    tokens: rate("tokens"),
    costUsd: rate("costUsd"),
    cpu: rate("cpuSeconds"),
  };
}

export function drawScreen(now: LiveSnapshot, rates: Rates, { columns, rows, isColoured }: ScreenOptions): string[] {
  const paint = (text: string, level: Level = "plain") =>
    isColoured && COLOURS[level] ? `${COLOURS[level]}${text}\x1b[0m` : text;
  const fit = (text: string) => (text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}…` : text);
  const perLine = Math.max(1, Math.floor(columns / CELL_WIDTH));

  function section(title: string, cells: readonly Cell[]): string[] {
    const lines = [fit(title)];
    for (let at = 0; at < cells.length; at += perLine) {
      const line = cells.slice(at, at + perLine).map(([label, value, level]) => {
        const text = `  ${label} ${value}`;
        const shown = text.slice(0, columns).padEnd(perLine === 1 ? 0 : CELL_WIDTH);
        return paint(shown, level);
      });
      lines.push(line.join("").trimEnd());
    }
    return lines;
  }

  const { agents, channels, inbox, outbox, jobs, today, webhooks, problems, disk } = now;
  const warnIf = (isBad: boolean, level: Level = "warning"): Level => (isBad ? level : "plain");
  const lines = [
    fit(`Berth ${now.version} · up ${duration(now.at - Date.parse(now.startedAt))} · ${clock(now.at)}`),
    "",
    ...section("Messages", [
      ["turns/s", decimal(rates.turns)],
      ["failed/s", decimal(rates.failedTurns), warnIf(rates.failedTurns > 0)],
      ["waiting", waiting(inbox, now.at), warnIf(ageOf(inbox, now.at) > 60_000)],
      ["undelivered", waiting(outbox, now.at), warnIf(ageOf(outbox, now.at) > 300_000)],
    ]),
    ...section("Models", [
      ["calls/s", decimal(rates.modelCalls)],
      ["tokens/s", decimal(rates.tokens)],
      ["USD/h", decimal(rates.costUsd * 3600)],
      ["USD today", decimal(today.costUsd)],
      ...now.providers.map((one): Cell => [one.label.slice(0, 12), ...providerState(one)]),
    ]),
    ...section("Channels", [
      ["connected", String(channels.connected), "good"],
      ["connecting", String(channels.connecting)],
      ["backing off", String(channels.backing_off), warnIf(channels.backing_off > 0)],
      ["failed", String(channels.failed), warnIf(channels.failed > 0)],
    ]),
    ...section("Fleet", [
      ["agents up", `${agents.up} of ${agents.total}`],
      ["in trouble", String(agents.error), warnIf(agents.error > 0)],
      ["errors today", String(today.errors)],
      ["streams", String(now.streams.live)],
      ["approvals due", String(now.approvals.waiting)],
      ["schedules late", String(now.schedules.late), warnIf(now.schedules.late > 0)],
      ["jobs late", String(jobs.late), warnIf(jobs.late > 0)],
      ["jobs failed", String(jobs.failed), warnIf(jobs.failed > 0)],
      ["webhooks", waiting(webhooks, now.at)],
    ]),
    ...section("Service", [
      ["requests/s", decimal(rates.requests)],
      ["5xx/s", decimal(rates.serverErrors), warnIf(rates.serverErrors > 0, "bad")],
      ["memory", bytes(now.memoryBytes)],
      ["processors", decimal(rates.cpu)],
      ["loop lag", now.lagMs === null ? "–" : `${Math.round(now.lagMs)} ms`, warnIf((now.lagMs ?? 0) > 250)],
      ["disk free", bytes(disk.freeBytes), warnIf(disk.freeBytes < disk.totalBytes / 20, "bad")],
    ]),
  ];
  for (const [cell, one] of (now.cells ?? []).entries()) {
    if (cell === 0) lines.push("Cells");
    lines.push(one ? fit(`  ${cell}  ${cellInWords(one, now.at)}`) : paint(fit(`  ${cell}  starting`), "warning"));
  }
  if (problems.length > 0) lines.push("", "Problems");
  for (const { severity, message, action } of problems) {
    const level = severity === "error" ? "bad" : severity === "warning" ? "warning" : "plain";
    const sign = severity === "error" ? "✗" : severity === "warning" ? "!" : "·";
    lines.push(paint(fit(`${sign} ${message}`), level), fit(`  ${action}`));
  }
  return lines.length > rows ? [...lines.slice(0, Math.max(1, rows - 1)), fit("… more than fits here")] : lines;
}

const cellInWords = ({ agents, inbox, turns, memoryBytes, lagMs }: LiveSnapshot, at: number) =>
  [
    `agents up ${agents.up} of ${agents.total}`,
    `turns ${turns.ended}`,
    `waiting ${waiting(inbox, at)}`,
    `memory ${bytes(memoryBytes)}`,
    `loop lag ${lagMs === null ? "–" : `${Math.round(lagMs)} ms`}`,
  ].join(" · ");

function providerState({ reachable, breaker, recent }: LiveSnapshot["providers"][number]): [string, Level] {
  if (breaker === "open") return ["paused", "bad"];
  if (reachable === false) return ["unreachable", "bad"];
  const { calls, failed, medianMs } = recent;
  const time = medianMs === null ? "up" : `${Math.round(medianMs)} ms`;
  const share = calls === 0 ? 0 : failed / calls;
  return share > 0.1 ? [`${time}, ${Math.round(share * 100)} % fail`, "warning"] : [time, "good"];
}

interface Queue {
  waiting: number;
  oldestAt: string | null;
}

const ageOf = ({ oldestAt }: Queue, now: number) => (oldestAt === null ? 0 : Math.max(0, now - Date.parse(oldestAt)));
const waiting = (queue: Queue, now: number) =>
  queue.waiting === 0 ? "0" : `${queue.waiting} (${duration(ageOf(queue, now))})`;

function decimal(value: number): string {
  if (value === 0) return "0";
  return value >= 100 ? String(Math.round(value)) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  let left = value;
  while (left >= 1000 && at < units.length - 1) {
    left /= 1000;
    at++;
  }
  return `${left >= 100 || at === 0 ? Math.round(left) : left.toFixed(1)} ${units[at]}`;
}

/** The largest two units. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

const clock = (at: number) => `${new Date(at).toISOString().slice(11, 19)} UTC`;
