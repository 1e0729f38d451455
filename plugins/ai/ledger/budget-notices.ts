// Tells that a budget is spent: once for whose it is and each period, however many calls are refused.
import { type Database, GuardFailed, guard } from "../../../src/kernel/database/database.ts";
import type { Events } from "../../../src/kernel/events/events.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import type { BalanceRefusal } from "./account-balances.ts";
import { type BudgetRefusal, type Period, periodEnd } from "./budgets.ts";

interface Deps {
  database: Pick<Database, "write">;
  events: Pick<Events, "recordStatement">;
  log: Pick<Log, "error">;
  metrics: Pick<Metrics, "counter">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  mails: Pick<ServiceOf<typeof auth>["mails"], "budgetSpentStatements">;
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

const FIRST_NOTICE = "first";
/** What was told before in this process; a restart asks the database. */
const MAX_NOTIFIED = 10_000;
const RETENTION_MS = 70 * 86_400_000;

/** What is told of is done beside the refused call: it can't fail because of it. */
export function createBudgetNotices({ database, events, log, metrics, agents, users, mails }: Deps) {
  const refusals = metrics.counter("berth_ai_budget_refusals_total", "Calls refused for want of budget.", ["of"]);
  const notified = new Set<string>();

  function notify(notice: Notice): void {
    refusals.labels({ of: notice.of }).inc();
    const key = `${ownerKey(notice)} ${notice.period} ${notice.since}`;
    if (notified.has(key)) return;
    if (notified.size >= MAX_NOTIFIED) notified.clear();
    notified.add(key);
    writeNotice(notice).catch((error: unknown) => {
      notified.delete(key);
      log.error("a spent budget could not be told", { of: notice.of, error });
    });
  }

  async function writeNotice({ since, limit, spent, ...notice }: Notice): Promise<void> {
    const { of, agentId, period } = notice;
    const agent = agentId === null ? undefined : await agents.find(agentId);
    // It has gone.
    if (agentId !== null && !agent) return;
    const userId = agent?.userId ?? notice.userId;
    const owner = userId === null ? undefined : await users.byId(userId);
    const until = periodEnd(period, since);
    const limitUsd = limit / 1e6;
    const data = { of, agentId, period, limitUsd, spentUsd: spent / 1e6, resetsAt: new Date(until).toISOString() };
    // Without a budget at all there is nothing to be spent: that is how it was set up.
    const mail =
      owner && limit > 0 ? mails.budgetSpentStatements(owner, { agent: agent?.name, period, limitUsd, until }) : [];
    try {
      await database.write([
        { sql: INSERT_NOTICE_SQL, args: [ownerKey(notice), period, since] },
        guard(FIRST_NOTICE),
        { sql: "DELETE FROM budget_notices WHERE since < ?", args: [since - RETENTION_MS] },
        events.recordStatement("budget.exceeded", { userId, agentId, data }),
        ...mail,
      ]);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
    }
  }

  return {
    budgetRefused({ of, ...rest }: BudgetRefusal): void {
      if (of === "public") notify({ ...rest, of, agentId: null, userId: null });
      else notify({ ...rest, of: "agent", agentId: of.agentId, userId: null });
    },
    accountRefused(refusal: BalanceRefusal): void {
      notify({ ...refusal, of: "account", agentId: null, period: "month" });
    },
  };
}

const INSERT_NOTICE_SQL = "INSERT INTO budget_notices (whose, period, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const ownerKey = ({ of, agentId, userId }: Pick<Notice, "of" | "agentId" | "userId">) => agentId ?? userId ?? of;
