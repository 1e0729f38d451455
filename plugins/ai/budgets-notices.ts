// Tells that a budget is spent: once for whose it is and each period, however many calls are refused.
import { type Database, GuardFailed, guard } from "../../src/database.ts";
import type { Events } from "../../src/events.ts";
import type { Log } from "../../src/log.ts";
import type { Metrics } from "../../src/metrics.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { type Period, periodEnd, type Refusal } from "./budgets.ts";
import type { PurseRefusal } from "./credits.ts";

interface Deps {
  database: Pick<Database, "write">;
  events: Pick<Events, "record">;
  log: Pick<Log, "error">;
  metrics: Pick<Metrics, "counter">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  mails: Pick<ServiceOf<typeof auth>["mails"], "budgetSpent">;
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
export function createNotices({ database, events, log, metrics, agents, users, mails }: Deps) {
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
    const agent = agentId === null ? undefined : await agents.find(agentId);
    // It has gone.
    if (agentId !== null && !agent) return;
    const userId = agent?.userId ?? notice.userId;
    const owner = userId === null ? undefined : await users.byId(userId);
    const until = periodEnd(period, since);
    const limitUsd = limit / 1e6;
    const data = { of, agentId, period, limitUsd, spentUsd: spent / 1e6, resetsAt: new Date(until).toISOString() };
    // Without a budget at all there is nothing to be spent: that is how it was set up.
    const mail = owner && limit > 0 ? mails.budgetSpent(owner, { agent: agent?.name, period, limitUsd, until }) : [];
    try {
      await database.write([
        { sql: INSERT, args: [whose(notice), period, since] },
        guard(FIRST),
        { sql: "DELETE FROM budget_notices WHERE since < ?", args: [since - KEPT_MS] },
        events.record("budget.exceeded", { userId, agentId, data }),
        ...mail,
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
