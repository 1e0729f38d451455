// Takes over OpenClaw's cron jobs (docs.openclaw.ai/automation/cron-jobs) as schedules that are switched off.
import { InvalidCron, readCron, requireRuns } from "../../../../src/kernel/util/cron/cron.ts";
import { DAY, HOUR, MINUTE } from "../../../../src/kernel/util/time.ts";
import { isTimeZone } from "../../../../src/kernel/util/time-zone.ts";
import type { Draft } from "../draft.ts";
import { listAt, textAt, valueAt } from "../json-values.ts";

const MAX_JOBS = 200;

interface Times {
  cron: string | null;
  at: string | null;
  timezone: string;
}

export async function takeOverCronJobs(draft: Draft, text: string): Promise<void> {
  const file = parse(text);
  const jobs = Array.isArray(file) ? file : listAt(file, "jobs");
  if (file === undefined) return void draft.report.left("cron/jobs.json", "UNREADABLE");
  for (const job of jobs.slice(0, MAX_JOBS)) {
    const name = textAt(job, "name") ?? "Schedule";
    const prompt = textAt(job, "payload", "message") ?? textAt(job, "payload", "text");
    const times = await timesOf(valueAt(job, "schedule"));
    if (prompt === undefined) draft.report.left(`cron/jobs.json: ${name}`, "NO_EQUIVALENT");
    else if (!times) draft.report.left(`cron/jobs.json: ${name}`, "UNSUPPORTED_TIMES");
    else draft.addSchedule(`cron/jobs.json: ${name}`, { name, prompt, ...times });
  }
}

async function timesOf(schedule: unknown): Promise<Times | undefined> {
  const zone = textAt(schedule, "tz");
  const timezone = zone !== undefined && isTimeZone(zone) ? zone : "UTC";
  const kind = textAt(schedule, "kind");
  if (kind === "at") {
    const at = textAt(schedule, "at") ?? valueAt(schedule, "atMs");
    const time = typeof at === "string" ? Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/i.test(at) ? at : `${at}Z`) : Number(at);
    return Number.isFinite(time) && Math.abs(time) < 8e15
      ? { cron: null, at: new Date(time).toISOString(), timezone }
      : undefined;
  }
  const cron = kind === "every" ? cronOfInterval(Number(valueAt(schedule, "everyMs"))) : textAt(schedule, "expr");
  return cron !== undefined && (await isReadable(cron, timezone)) ? { cron, at: null, timezone } : undefined;
}

/** The cron expression of an interval that divides an hour or a day. */
function cronOfInterval(ms: number): string | undefined {
  const [minutes, hours] = [ms / MINUTE, ms / HOUR];
  if (Number.isInteger(minutes) && minutes >= 1 && 60 % minutes === 0)
    return minutes === 60 ? "0 * * * *" : `*/${minutes} * * * *`;
  if (Number.isInteger(hours) && hours >= 1 && 24 % hours === 0) return ms === DAY ? "0 0 * * *" : `0 */${hours} * * *`;
  return undefined;
}

async function isReadable(cron: string, timezone: string): Promise<boolean> {
  if (cron.length > 200) return false;
  try {
    requireRuns(await readCron(cron, timezone), Date.now(), 1);
    return true;
  } catch (error) {
    if (error instanceof InvalidCron) return false;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
