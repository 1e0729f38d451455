// Puts the kernel together from the configuration, and takes it apart again in reverse.
import { createBackendTransport, createServiceTokens } from "./backend.ts";
import type { Config } from "./config.ts";
import { type Database, openDatabase } from "./database.ts";
import { StartError } from "./errors.ts";
import { createEvents } from "./events.ts";
import { createIdempotency } from "./idempotency.ts";
import { createJobs } from "./jobs.ts";
import { createLimits } from "./limits.ts";
import { createLog } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import { createOutbound } from "./outbound.ts";
import type { Kernel } from "./plugin.ts";
import { createVault, loadOrCreateSecretKey, type Vault } from "./vault.ts";

export interface RunningKernel extends Kernel {
  /** Writes what is still in memory and closes the database. */
  close(): Promise<void>;
}

/** Opens the database, checks that the root key is the one it knows, and builds every kernel service. Throws StartError. */
export async function openKernel(config: Config): Promise<RunningKernel> {
  const log = createLog(config.log);
  for (const secret of secretsOf(config)) log.redactSecret(secret);
  const metrics = createMetrics();
  const database = await openDatabase({
    url: config.database.url,
    authToken: config.database.authToken,
    dataDir: config.dataDir,
    log,
    metrics,
  });
  try {
    const key = config.secretKey ?? (await loadOrCreateSecretKey(config.dataDir, log));
    const vault = createVault({ key, previous: config.secretKeyPrevious });
    await checkFingerprint(database, vault);
    const backendUrl = config.role === "web" ? config.backend.url : undefined;
    const limits = await createLimits({ database, rateLimits: config.rateLimits, log });
    const jobs = createJobs({ database, log });
    return {
      config,
      log,
      metrics,
      database,
      vault,
      jobs,
      limits,
      events: createEvents({ database, jobs, log }),
      idempotency: createIdempotency({ database, vault }),
      outbound: createOutbound({ allow: config.outboundAllow, log }),
      backend: createBackendTransport(createServiceTokens(vault), backendUrl),
      async close() {
        metrics.stop();
        await limits.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** What the operator told us in confidence. */
function secretsOf({ providers, secretKey, secretKeyPrevious, database, metricsToken, webhook }: Config): string[] {
  const keys = Object.values(providers).map(({ apiKey }) => apiKey);
  const all = [...keys, secretKey, secretKeyPrevious, database.authToken, metricsToken, webhook.secret];
  return all.filter((secret) => secret !== undefined);
}

/** A database sealed under another key would lose every stored secret silently; so that start is refused. */
async function checkFingerprint(database: Database, vault: Vault): Promise<void> {
  const { rows } = await database.read("SELECT value FROM meta WHERE key = 'secret_fingerprint'");
  const known = rows[0]?.value;
  const current = vault.fingerprint();
  if (known === current) return;
  if (known !== undefined && known !== vault.previousFingerprint()) {
    throw new StartError(
      "SECRET_KEY is not the one this database was made with. Put the old key back, or give it as SECRET_KEY_PREVIOUS to rotate.",
    );
  }
  await database.write([
    {
      sql: "INSERT INTO meta (key, value) VALUES ('secret_fingerprint', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      args: [current],
    },
  ]);
}
