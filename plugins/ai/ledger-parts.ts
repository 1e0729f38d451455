// Money, put together: who pays for a call, where it is written down, who is told of a spent budget, and what is kept.
import { join } from "node:path";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { createNotices } from "./budgets-notices.ts";
import { createPurses } from "./credits.ts";
import { allowanceOf } from "./credits-plans.ts";
import { createLedger } from "./ledger.ts";
import { createLedgerMove } from "./ledger-move.ts";
import { pruneLedger } from "./ledger-prune.ts";
import { createResponseCache } from "./response-cache.ts";
import { createCachedCalls } from "./response-cache-calls.ts";
import { cacheBackendRoutes, cacheWebRoutes } from "./response-cache-routes.ts";
import { createTurnCaches } from "./response-cache-turns.ts";
import { usageRoutes } from "./usage-routes.ts";

const DAY = 86_400_000;

interface Deps {
  kernel: Kernel;
  accounts: ServiceOf<typeof auth>;
  agents: ServiceOf<typeof agentsPlugin>;
}

export function createMoney({ kernel, accounts, agents }: Deps) {
  const { config, database, events, log, metrics, backend } = kernel;
  const { users, mails, administration } = accounts;
  const { isAdmin } = administration;
  const notices = createNotices({ database, events, log, metrics, users, mails, agents });
  const purses = createPurses({
    database,
    allowanceOf: async (userId) => allowanceOf(await users.byId(userId), { config, isAdmin }).micro,
    taken: users.forget,
    refused: notices.account,
  });
  const journalFile = join(config.dataDir, "ledger.journal");
  const move = createLedgerMove(purses);
  const ledger = createLedger({ database, log, purses, journalFile, paid: move.paid, refused: notices.budget });
  const cache = createResponseCache({ metrics });
  const caches = createTurnCaches({ database, config, cache, ledger });
  agents.onDelete(caches.forget);
  agents.onMove(move.statements);
  kernel.jobs.every("ai.prune-ledger", DAY, async () => void (await pruneLedger(database)));

  return {
    ledger,
    /** Answers of the API from the cache. */
    cached: createCachedCalls({ cache, ledger }),
    /** Kept answers of an agent that has it turned on. */
    turnCache: caches.forTurn,
    estate: caches.estate,
    web: usageRoutes({ database, config, accounts, agents }).use(cacheWebRoutes({ backend, accounts, agents, caches })),
    backend: cacheBackendRoutes({ agents, caches }),
  };
}
