// Makes, changes and deletes schedules for owners: fills in defaults, and checks them against other plugins.
import { channelDefinition, channelIds, isChannelId } from "../../channels/registry.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { InvalidCron } from "../../src/kernel/util/cron/cron.ts";
import { toStorableText } from "../../src/kernel/util/text/storable-text.ts";
import { isTimeZone } from "../../src/kernel/util/time-zone.ts";
import type { Agent, agents as agentsPlugin } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import { TAINT, type Taint } from "../skills/index.ts";
import { nameFor } from "./fields.ts";
import { invalidSchedule, type ScheduleFields, type ScheduleStore } from "./schedule-store.ts";
import type { DeliverTo, Schedule } from "./schema.ts";
import { nextRuns, parseMoment } from "./timing.ts";
import { inWords } from "./words.ts";

/** A request: omitted fields keep their default, or their present value. */
export type ScheduleRequest = {
  [Key in Exclude<keyof ScheduleFields, "cron" | "at">]?: ScheduleFields[Key] | undefined;
} & { cron?: string | undefined; at?: string | undefined };

export interface ScheduleService {
  /** Throws 400 `INVALID_SCHEDULE`, 429 `SCHEDULE_LIMIT_REACHED`. */
  create(
    agent: Agent,
    request: ScheduleRequest & { prompt: string },
    by?: { taint: Taint; id: string },
  ): Promise<Schedule>;
  /** Throws 400 `INVALID_SCHEDULE`, 404 `SCHEDULE_NOT_FOUND`, 409 `SCHEDULE_IN_CONFIG`, 429 `SCHEDULE_LIMIT_REACHED`. */
  change(agent: Agent, id: string, request: ScheduleRequest): Promise<Schedule>;
  /** Throws 404 `SCHEDULE_NOT_FOUND`, 409 `SCHEDULE_IN_CONFIG`. */
  remove(agent: Agent, id: string): Promise<void>;
  /** The next five runs. Throws 400 `INVALID_SCHEDULE`. */
  preview(
    agent: Agent,
    request: Pick<ScheduleRequest, "cron" | "at" | "timezone">,
  ): Promise<{ next: number[]; words: string; timezone: string }>;
}

interface Deps {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "settings">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "isConnected">;
  store: ScheduleStore;
  now: () => number;
}

export function createScheduleService({ agents, runtime, store, now }: Deps): ScheduleService {
  const timezoneFor = async ({ id }: Agent, given: string | undefined) =>
    requireTimeZone(given ?? (await agents.settings(id)).timezone ?? "UTC");

  async function requireTarget({ id: agentId }: Agent, deliver: DeliverTo): Promise<DeliverTo> {
    if (deliver === null || !("platform" in deliver)) return deliver;
    const { platform } = deliver;
    if (!isChannelId(platform)) {
      throw invalidSchedule("deliver.platform", `The platform is one of: ${channelIds().join(", ")}.`);
    }
    if (await runtime.isConnected(agentId, platform)) return deliver;
    const { label } = channelDefinition(platform);
    throw invalidSchedule("deliver.platform", `The agent is not connected to ${label}. Connect it first.`);
  }

  return {
    async create(agent, { name, prompt, cron, at, timezone, deliver, missed, enabled }, by) {
      const fields: ScheduleFields = {
        name: nameFor(name, prompt),
        prompt: requirePrompt(prompt),
        cron: cron ?? null,
        at: at ?? null,
        timezone: await timezoneFor(agent, timezone),
        deliver: await requireTarget(agent, deliver ?? null),
        missed: missed ?? "once",
        enabled: enabled ?? true,
      };
      return store.create(agent, fields, by ? { origin: "agent", ...by } : { origin: "owner", taint: TAINT.none });
    },

    async change(agent, id, request) {
      const schedule = await store.require(agent.id, id);
      if (request.enabled === true && !schedule.enabled) await store.requireWithinLimit(agent);
      const given = Object.entries(request).filter(([, value]) => value !== undefined);
      // Pausing does not override the configuration.
      if (given.some(([key]) => key !== "enabled")) requireNotConfigured(schedule);
      if (request.cron !== undefined && request.at !== undefined) {
        throw invalidSchedule("cron", "Give either cron or, for a single run, at.");
      }
      const { name, prompt, timezone, deliver, ...rest } = Object.fromEntries(given) as Partial<ScheduleFields>;
      return store.change(schedule, {
        ...rest,
        ...(prompt !== undefined && { prompt: requirePrompt(prompt) }),
        ...(name !== undefined && { name: nameFor(name, prompt ?? schedule.prompt) }),
        ...(timezone !== undefined && { timezone: requireTimeZone(timezone) }),
        ...(deliver !== undefined && { deliver: await requireTarget(agent, deliver) }),
      });
    },

    async remove({ id: agentId }, id) {
      requireNotConfigured(await store.require(agentId, id));
      await store.remove(agentId, id);
    },

    async preview(agent, { cron, at, timezone: given }) {
      const timezone = await timezoneFor(agent, given);
      if ((cron === undefined) === (at === undefined)) {
        throw invalidSchedule("cron", "Give either cron or, for a single run, at.");
      }
      const moment = at === undefined ? null : parseMoment(at, timezone);
      if (moment === undefined)
        throw invalidSchedule("at", 'This must be a time in ISO 8601, such as "2030-01-31T09:00".');
      const timing = { cron: cron ?? null, at: moment, timezone };
      try {
        return { next: await nextRuns(timing, now()), words: inWords(timing), timezone };
      } catch (error) {
        if (error instanceof InvalidCron) throw invalidSchedule(cron === undefined ? "at" : "cron", error.message);
        throw error;
      }
    },
  };
}

function requirePrompt(prompt: string): string {
  if (prompt.trim() === "") throw invalidSchedule("prompt", "Say what the agent does at these times.");
  return toStorableText(prompt);
}

function requireTimeZone(name: string): string {
  if (isTimeZone(name)) return name;
  throw invalidSchedule("timezone", "There is no such time zone. Use a name such as Europe/Berlin.");
}

function requireNotConfigured({ origin, name }: Schedule): void {
  if (origin !== "config") return;
  const text = `The schedule "${name}" comes from the agent's configuration. Change it there, or pause it.`;
  throw new AppError(409, "SCHEDULE_IN_CONFIG", text);
}
