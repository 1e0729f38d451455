// Tells that a budget is spent: once for whose it is and each period, however many calls are refused.
import { type Database, GuardFailed, guard } from "../../src/database.ts";
import type { Events } from "../../src/events.ts";
import type { Log } from "../../src/log.ts";
import type { Metrics } from "../../src/metrics.ts";
import { type Period, periodEnd, type Refusal } from "./budgets.ts";
import type { PurseRefusal } from "./credits.ts";

interface Deps {
  database: Pick<Database, "write">;
  events: Pick<Events, "record">;
  log: Pick<Log, "error">;
  metrics: Pick<Metrics, "counter">;
  /** The owner of an agent; undefined when it has gone. */
  ownerOf(agentId: string): Promise<string | undefined>;
}

interface Notice {
  of: "agent" | "account" | "public";
  agentId: string | null;
  userId: string | null;
  period: Period;
  since: number;
  limit: number;
  spent: number;
}

const FIRST = "first";
/** What was told before in this process; a restart asks the database. */
const MAX_TOLD = 10_000;
const KEPT_MS = 70 * 86_400_000;

/** What is told of is done beside the refused call: it can't fail because of it. */
export function createNotices({ database, events, log, metrics, ownerOf }: Deps) {
  const refusals = metrics.counter("berth_ai_budget_refusals_total", "Calls refused for want of budget.", ["of"]);
  const told = new Set<string>();

  function tell(notice: Notice): void {
    refusals.labels({ of: notice.of }).inc();
    const key = `${whose(notice)} ${notice.period} ${notice.since}`;
    if (told.has(key)) return;
    if (told.size >= MAX_TOLD) told.clear();
    told.add(key);
    write(notice).catch((error: unknown) => {
      told.delete(key);
      log.error("a spent budget could not be told", { of: notice.of, error });
    });
  }

  async function write({ since, limit, spent, ...notice }: Notice): Promise<void> {
    const { of, agentId, period } = notice;
    const userId = agentId === null ? notice.userId : await ownerOf(agentId);
    if (userId === undefined) return;
    const resetsAt = new Date(periodEnd(period, since)).toISOString();
    const data = { of, agentId, period, limitUsd: limit / 1e6, spentUsd: spent / 1e6, resetsAt };
    try {
      await database.write([
        { sql: INSERT, args: [whose(notice), period, since] },
        guard(FIRST),
        { sql: "DELETE FROM budget_notices WHERE since < ?", args: [since - KEPT_MS] },
        events.record("budget.exceeded", { userId, agentId, data }),
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  return {
    budget({ of, ...rest }: Refusal): void {
      if (of === "public") tell({ ...rest, of, agentId: null, userId: null });
      else tell({ ...rest, of: "agent", agentId: of.agentId, userId: null });
    },
    account(refusal: PurseRefusal): void {
      tell({ ...refusal, of: "account", agentId: null, period: "month" });
    },
  };
}

const INSERT = "INSERT INTO budget_notices (whose, period, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const whose = ({ of, agentId, userId }: Pick<Notice, "of" | "agentId" | "userId">) => agentId ?? userId ?? of;
