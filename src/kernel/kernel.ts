// Builds the kernel's services from the configuration, and closes them in reverse order.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createAudit } from "./audit/audit.ts";
import type { Cells } from "./cells/cells.ts";
import { UNMARKED } from "./cells/marks.ts";
import type { Config } from "./config/config.ts";
import { type Database, type DatabaseOptions, openDatabase } from "./database/database.ts";
import { StartError } from "./errors.ts";
import { createEvents } from "./events/events.ts";
import { eventsKind } from "./events/events-retention.ts";
import type { SharedFiles } from "./files.ts";
import { createBackendTransport } from "./http/backend/backend-transport.ts";
import { createServiceTokens } from "./http/backend/service-tokens.ts";
import { createIdempotency } from "./http/idempotency.ts";
import { registerJobMetrics } from "./jobs/job-metrics.ts";
import { createJobs } from "./jobs/jobs.ts";
import { createMailer, QUEUED_MAILS } from "./mail/mailer.ts";
import { type Kernel, ownsDatabase } from "./plugin.ts";
import { createRetention } from "./retention/retention.ts";
import { retentionSettings } from "./retention/settings.ts";
import { createKeyRotation, noteKeyStatement } from "./security/key-rotation.ts";
import { createOutbound } from "./security/outbound.ts";
import { createRateLimiter } from "./security/rate-limits/rate-limiter.ts";
import { createVault, loadOrCreateSecretKey, type Vault } from "./security/vault.ts";
import { registerDiskMetrics } from "./telemetry/disk-metrics.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { createOutages } from "./telemetry/outages.ts";

export interface RunningKernel extends Kernel {
  /** Stores what is still in memory and closes the database. */
  close(): Promise<void>;
}

/** What the composition root puts in place of what the kernel does by itself. */
export interface KernelSeams {
  /** Default: a log of its own. */
  log?: Log;
  replicate?: DatabaseOptions["replicate"];
  isConfirmedLater?: DatabaseOptions["isConfirmedLater"];
  keepLog?: DatabaseOptions["keepLog"];
  backend?: DatabaseOptions["backend"];
  files?: SharedFiles;
  /** In a trial: the data folder of the service, whose secret.key is read and never made. */
  keyDir?: string;
  /** Registers metrics beside those of the kernel and the plugins. */
  onMetrics?: (metrics: Metrics) => void;
  /** Makes what a cell knows of the others, over the kernel's database. */
  cells?: (database: Database) => Cells;
}

/**
 * Opens the database, checks that the root key belongs to it, and builds every kernel service. Throws StartError with
 * everything closed again.
 */
export async function openKernel(config: Config, seams: KernelSeams = {}): Promise<RunningKernel> {
  const log = seams.log ?? createLog(config.log);
  for (const secret of config.secrets) log.redactSecret(secret, "always");
  const metrics = createMetrics();
  seams.onMetrics?.(metrics);
  const opened: { close(): unknown }[] = [{ close: metrics.stop }];
  /** What can't be closed, for instance because its last write is refused, does not keep the others open. */
  const close = async () => {
    const failures: unknown[] = [];
    for (const one of opened.splice(0).reverse()) {
      try {
        await one.close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const database = await openDatabase({
      url: config.database.url,
      authToken: config.database.authToken,
      dataDir: config.dataDir,
      log,
      metrics,
      ...(seams.replicate && { replicate: seams.replicate }),
      ...(seams.isConfirmedLater && { isConfirmedLater: true }),
      ...(seams.keepLog && { keepLog: seams.keepLog }),
      ...(seams.backend && { backend: seams.backend }),
    });
    opened.push(database);
    const outages = createOutages({ metrics, log, secrets: config.secrets });
    const traces =
      config.traces &&
      (await import("./telemetry/otlp-traces.ts")).openTraces(config.traces, log, outages.watch("traces"));
    if (traces) opened.push(traces);
    const vault = await openVault(config, database, log, seams.keyDir);
    const limits = await createRateLimiter({ database, rateLimits: config.rateLimits, log });
    opened.push(limits);
    const cells = seams.cells?.(database);
    const marks = cells?.marks ?? UNMARKED;
    const jobs = createJobs({ database, log, marks });
    registerJobMetrics({ metrics, database, jobs });
    registerDiskMetrics(metrics, config.dataDir);
    const retention = createRetention({ jobs, metrics, log, database });
    const kept = config.of(retentionSettings);
    const events = createEvents({ database, log });
    retention.register(eventsKind(database, kept.events));
    const mail = createMailer({ config, jobs, vault, log, metrics });
    opened.push(mail);
    const keyRotation = createKeyRotation({ database, vault, log });
    keyRotation.registerColumn(QUEUED_MAILS);
    const audit = createAudit({
      database,
      vault,
      keyRotation,
      log,
      marks,
      isAlone: ownsDatabase({ config, database }),
    });
    opened.push(audit);
    return {
      config,
      log,
      metrics,
      outages,
      traces,
      database,
      vault,
      keyRotation,
      jobs,
      retention,
      mail,
      limits,
      events,
      idempotency: createIdempotency({ database, vault }),
      outbound: createOutbound({ allow: config.outboundAllow, log }),
      backend: createBackendTransport(
        createServiceTokens(vault),
        config.role === "web" ? config.backend.url : undefined,
      ),
      files: seams.files,
      marks,
      audit,
      cells,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Makes the vault and checks that its root key is the one that sealed this database's secrets. With another key, they
 * would be lost. So another key is refused, and no new key is created for a database that has one.
 */
async function openVault(config: Config, database: Database, log: Log, keyDir = config.dataDir): Promise<Vault> {
  const { rows } = await database.read("SELECT value FROM meta WHERE key = 'secret_fingerprint'");
  const storedFingerprint = rows[0]?.value;
  const file = join(keyDir, "secret.key");
  if (storedFingerprint !== undefined && config.secretKey === undefined && !existsSync(file)) {
    throw new StartError(`${file} is missing, and this database needs it. Put it back, or give the key as SECRET_KEY.`);
  }
  const key = config.secretKey ?? loadOrCreateSecretKey(existsSync(file) ? keyDir : config.dataDir, log);
  log.redactSecret(key, "always");
  const vault = createVault({ key, previous: config.secretKeyPrevious });
  const current = vault.fingerprint();
  const { keyId, previousKeyId } = vault;
  const notes = previousKeyId === undefined || previousKeyId === keyId ? [] : [noteKeyStatement(previousKeyId)];
  if (storedFingerprint === current) {
    if (notes.length > 0) await database.write(notes);
    return vault;
  }
  if (storedFingerprint !== undefined && storedFingerprint !== vault.previousFingerprint()) {
    throw new StartError(
      "SECRET_KEY is not the one this database was made with. Put the old key back, or give it as SECRET_KEY_PREVIOUS to rotate.",
    );
  }
  await database.write([
    {
      sql: "INSERT INTO meta (key, value) VALUES ('secret_fingerprint', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      args: [current],
    },
    ...notes,
  ]);
  return vault;
}
