// Backup rows of schedules. Runs are a record of the service: a restored schedule goes on with its next time.
import { t } from "elysia";
import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { BackupTableRows, BackupTables } from "../agents/index.ts";
import type { Taint } from "../skills/index.ts";
import { MAX_NAME, MAX_PROMPT } from "./model.ts";
import { wakeStatement } from "./schedule-store.ts";
import type { MissedPolicy, Schedule } from "./schema.ts";

export type ScheduleBackupTable = "schedules";

/** A row of the part `schedules`. Times are epoch ms. */
export interface ScheduleRow {
  id: string;
  name: string;
  prompt: string;
  cron: string | null;
  when: number | null;
  timezone: string;
  /** JSON. */
  deliver: string | null;
  missed: MissedPolicy;
  enabled: 0 | 1;
  reason: string | null;
  taint: Taint;
  origin: Schedule["origin"];
  digest: string | null;
  session: string | null;
  next: number | null;
  at: number;
  updated: number;
}

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

/** A schedule in an exported agent; those of the configuration are in the configuration. */
export const exportedSchedule = t.Object({
  name: t.String({ minLength: 1, maxLength: MAX_NAME }),
  prompt: t.String({ minLength: 1, maxLength: MAX_PROMPT }),
  cron: nullable(t.String({ minLength: 1, maxLength: 200 })),
  at: nullable(t.String({ maxLength: 64, description: "ISO 8601" })),
  timezone: t.String({ maxLength: 64 }),
  missed: t.Union([t.Literal("skip"), t.Literal("once"), t.Literal("all")]),
});

export interface ScheduleBackupRows {
  readonly tables: BackupTables<ScheduleBackupTable>;
  /** Sets the schedules as they were. Times that passed since the backup follow the policy for missed runs. */
  restoreStatements(agentId: string, rows: BackupTableRows<ScheduleBackupTable>): Statement[];
  /** Statements that pause the schedules of an account that another person takes over. */
  pauseAllStatement(userId: string): Statement;
}

export function createBackupRows({ jobs }: Pick<Kernel, "jobs">): ScheduleBackupRows {
  return {
    tables: {
      schedules: `SELECT json_group_array(json_object('id', id, 'name', name, 'prompt', prompt, 'cron', cron, 'when', at,
          'timezone', timezone, 'deliver', deliver, 'missed', missed, 'enabled', enabled, 'reason', status_reason,
          'taint', taint, 'origin', origin, 'digest', digest, 'session', session_id, 'next', next_run_at,
          'at', created_at, 'updated', updated_at))
        FROM (SELECT * FROM schedules WHERE agent_id = ?1 ORDER BY id)`,
    },

    restoreStatements(agentId, { schedules }) {
      // The query above defines the type.
      const rows = JSON.parse(schedules) as ScheduleRow[];
      return [
        {
          sql: "DELETE FROM schedules WHERE agent_id = ?1 AND id NOT IN (SELECT value ->> 'id' FROM json_each(?2))",
          args: [agentId, schedules],
        },
        { sql: RESTORE, args: [agentId, schedules] },
        ...rows.flatMap(({ id, next }) => (next === null ? [] : [wakeStatement(jobs, id, next)])),
      ];
    },

    pauseAllStatement: (userId) => ({
      sql: `UPDATE schedules SET enabled = 0, next_run_at = NULL, status_reason = ?2
        WHERE agent_id IN (SELECT id FROM agents WHERE user_id = ?1) AND enabled = 1`,
      args: [
        userId,
        "Paused when the account was taken over by the owner of its address. Check it, then switch it on.",
      ],
    }),
  };
}

/** The history of a schedule that still exists is kept. A run that has begun since the backup is not repeated. */
const RESTORE = `INSERT INTO schedules (id, agent_id, name, prompt, cron, at, timezone, deliver, missed, enabled,
    status_reason, taint, origin, digest, session_id, next_run_at, created_at, updated_at)
  SELECT value ->> 'id', ?1, value ->> 'name', value ->> 'prompt', value ->> 'cron', value ->> 'when', value ->> 'timezone',
    value ->> 'deliver', value ->> 'missed', value ->> 'enabled', value ->> 'reason', value ->> 'taint', value ->> 'origin',
    value ->> 'digest', value ->> 'session', value ->> 'next', value ->> 'at', value ->> 'updated' FROM json_each(?2)
  WHERE true ON CONFLICT (id) DO UPDATE SET name = excluded.name, prompt = excluded.prompt, cron = excluded.cron,
    at = excluded.at, timezone = excluded.timezone, deliver = excluded.deliver, missed = excluded.missed,
    enabled = excluded.enabled, status_reason = excluded.status_reason, taint = excluded.taint, origin = excluded.origin,
    digest = excluded.digest, session_id = excluded.session_id,
    next_run_at = max(excluded.next_run_at, coalesce(next_run_at, excluded.next_run_at)), updated_at = excluded.updated_at
  WHERE agent_id = excluded.agent_id`;
