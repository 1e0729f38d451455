// Wires the services that account for model calls: balances, budgets, ledger, notices, caches, and their routes.

import { join } from "node:path";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { retentionSettings } from "../../src/kernel/retention/settings.ts";
import { type AgentStatsService, addCallsToHours } from "../agent-stats/index.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { adminSettings, planSettings } from "../auth/settings.ts";
import { createCachedCalls } from "./cache/cached-calls.ts";
import { createResponseCache } from "./cache/response-cache.ts";
import { createTurnCaches } from "./cache/turn-caches.ts";
import { createAccountBalances } from "./ledger/account-balances.ts";
import { createBudgetNotices } from "./ledger/budget-notices.ts";
import { createDatabaseJournal } from "./ledger/database-journal.ts";
import { createJournal } from "./ledger/journal.ts";
import { createLedger, type Ledger } from "./ledger/ledger.ts";
import { createOwnershipTransfer } from "./ledger/ownership-transfer.ts";
import { allowanceOf } from "./ledger/plan-allowance.ts";
import { usageKind } from "./ledger/retention.ts";
import { createCellShares } from "./ledger/shares/cell-shares.ts";
import { createUsageSums } from "./ledger/usage-sums.ts";
import { DEMO_ENTRY } from "./providers/catalogue-entry.ts";
import { createCallMetrics } from "./reports/call-metrics.ts";
import { budgetSettings, providerSettings } from "./settings.ts";
import { createAgentCosts } from "./usage/agent-costs.ts";

interface Deps {
  kernel: Kernel;
  authService: ServiceOf<typeof auth>;
  agents: ServiceOf<typeof agentsPlugin>;
  agentStats: Pick<AgentStatsService, "beforeFigures">;
  isKnownModel(provider: string, model: string): boolean;
}

export function createBilling({ kernel, authService, agents, agentStats, isKnownModel }: Deps) {
  const { config, database, events, log, metrics, backend, cells } = kernel;
  const { users, mails, administration } = authService;
  const { isAdmin, rampOf } = administration;
  const { planMicroUsd: budgets, unpaidMicroUsd } = config.of(budgetSettings);
  const { table: plans } = config.of(planSettings);
  const budgetNotices = createBudgetNotices({ database, events, log, metrics, users, mails, agents });
  const accountAllowance = async (userId: string) =>
    allowanceOf(await users.byId(userId), { plans, budgets, isAdmin, rampOf });
  const balances = createAccountBalances({
    database,
    allowanceOf: accountAllowance,
    onCreditsTaken: users.invalidate,
    onRefused: budgetNotices.accountRefused,
  });
  const countCall = createCallMetrics({ metrics, isKnown: isKnownModel });
  const journalFile = join(config.dataDir, "ledger.journal");
  const sums = createUsageSums({ database, others: [addCallsToHours] });
  const transfer = createOwnershipTransfer({ balances, sums });
  const shares = cells && createCellShares({ cells, database, log, giveBack: (budget) => ledger.giveBack(budget) });
  const ledger: Ledger = createLedger({
    database,
    log,
    balances,
    sums,
    unpaidBudget: { microUsd: unpaidMicroUsd, adminEmails: config.of(adminSettings).emails },
    journal: kernel.files ? createDatabaseJournal({ database, log, journalFile }) : createJournal(journalFile, log),
    onPaid: transfer.onPaid,
    onSettled: ({ provider, modelId }, usage, microUsd) => countCall(provider, modelId, usage, microUsd),
    onRefused: budgetNotices.budgetRefused,
    shares,
  });
  const { addUp } = ledger;
  agentStats.beforeFigures(addUp);
  cells?.onAccountMoves({ beforePacked: addUp, removed: balances.forget });
  const cache = createResponseCache({ metrics });
  const turnCaches = createTurnCaches({ database, config, cache, ledger });
  agents.onDelete(turnCaches.forgetAgent);
  agents.onDelete(ledger.forgetAgent);
  agents.onTransfer(transfer.transferStatements);
  kernel.retention.register(usageKind(database, config.of(retentionSettings).usage));

  const labelOf = (provider: string, model: string) => {
    if (provider === DEMO_ENTRY.provider && model === DEMO_ENTRY.id) return DEMO_ENTRY.name;
    const definition = config.of(providerSettings).registry.find(provider);
    return definition ? config.of(providerSettings).of(definition.id).label : provider;
  };

  const usageDeps = { database, addUp, plans, budgets, authService, agents };

  return {
    ledger,
    isUnlimited: async (userId: string) => (await accountAllowance(userId)).microUsd === Number.POSITIVE_INFINITY,
    /** Whether the account may learn why the operator's keys fail. */
    async isOperator(userId: string) {
      const user = await users.byId(userId);
      return user !== undefined && isAdmin(user);
    },
    /** After somebody's data was erased: a cached response may quote them. */
    forgetResponses: cache.clear,
    /** Serves API calls from the response cache. */
    cachedCall: createCachedCalls({ cache, ledger }),
    /** The response cache of an agent that has it enabled. */
    turnCache: turnCaches.forTurn,
    backupRows: turnCaches.backupRows,
    agentCosts: createAgentCosts({ database, addUp }),
    lateRoutes: {
      web: [
        async () => (await import("./usage/usage-routes.ts")).usageRoutes({ ...usageDeps, labelOf }),
        async () => (await import("./usage/usage-detail-routes.ts")).usageDetailRoutes(usageDeps),
        async () =>
          (await import("./cache/cache-routes.ts")).cacheWebRoutes({ backend, authService, agents, turnCaches }),
      ],
      backend: [async () => (await import("./cache/cache-routes.ts")).cacheBackendRoutes({ agents, turnCaches })],
    },
  };
}
