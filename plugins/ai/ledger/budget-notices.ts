// Notifies of an exceeded budget by event and mail: once per budget and period, however many calls are refused.

import { type Database, GuardFailed, guard } from "../../../src/kernel/database/database.ts";
import type { Events } from "../../../src/kernel/events/events.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Log } from "../../../src/kernel/telemetry/log.ts";
import type { Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
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
  of: "agent" | "account" | "public" | "unpaid";
  agentId: string | null;
  userId: string | null;
  period: Period;
  since: number;
  limit: number;
  spent: number;
}

const FIRST_NOTICE = "first";
/** Notices of this process that are remembered; after a restart the database prevents duplicates. */
const MAX_NOTIFIED = 10_000;
const RETENTION_MS = 70 * DAY;

/** Notices are written in the background, so that their failure does not affect the refused call. */
export function createBudgetNotices({ database, events, log, metrics, agents, users, mails }: Deps) {
  const refusals = metrics.counter("berth_ai_budget_refusals_total", "Calls refused by a budget.", ["of"]);
  const notified = new Set<string>();

  function notify(notice: Notice): void {
    refusals.labels({ of: notice.of }).inc();
    const key = `${ownerKey(notice)} ${notice.period} ${notice.since}`;
    if (notified.has(key)) return;
    if (notified.size >= MAX_NOTIFIED) notified.clear();
    notified.add(key);
    writeNotice(notice).catch((error: unknown) => {
      notified.delete(key);
      log.error("a budget notice could not be stored", { of: notice.of, error });
    });
  }

  async function writeNotice({ since, limit, spent, ...notice }: Notice): Promise<void> {
    const { of, agentId, period } = notice;
    const agent = agentId === null ? undefined : await agents.find(agentId);
    // The agent was deleted.
    if (agentId !== null && !agent) return;
    const userId = agent?.userId ?? notice.userId;
    const owner = userId === null ? undefined : await users.byId(userId);
    const until = periodEnd(period, since);
    const limitUsd = limit / 1e6;
    const data = { of, agentId, period, limitUsd, spentUsd: spent / 1e6, resetsAt: new Date(until).toISOString() };
    // A budget of 0 is a setting of the owner or operator, so no mail is sent.
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
      if (of === "public" || of === "unpaid") notify({ ...rest, of, agentId: null, userId: null });
      else notify({ ...rest, of: "agent", agentId: of.agentId, userId: null });
    },
    accountRefused(refusal: BalanceRefusal): void {
      notify({ ...refusal, of: "account", agentId: null, period: "month" });
    },
  };
}

const INSERT_NOTICE_SQL = "INSERT INTO budget_notices (whose, period, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const ownerKey = ({ of, agentId, userId }: Pick<Notice, "of" | "agentId" | "userId">) => agentId ?? userId ?? of;
