// Sends mail by a job that is enqueued in the batch of its cause, over SMTP or, without a server, into a folder.
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Statement } from "../database/database.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { SealedColumn } from "../security/key-rotation.ts";
import type { Vault } from "../security/vault.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { MailRefused, type MailTransport, type Message, toSingleLine } from "./message.ts";
import { createOutboxFolder } from "./outbox-folder.ts";
import { createSmtp, MAX_CONNECTIONS } from "./smtp.ts";

/** A mail to send. */
export interface OutgoingMail {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Epoch ms. After that it is not sent, since its link has expired. */
  expiresAt?: number;
}

export interface Mailer {
  /**
   * Makes the statement that queues a mail, for the batch of its cause. The stored mail is sealed, since links are secrets.
   * It is tried for about 22 hours; a mail that the server rejects permanently is logged and dropped.
   */
  sendStatement(letter: OutgoingMail): Statement;
  close(): void;
}

export interface MailerDeps {
  config: Pick<Config, "smtp" | "baseUrl" | "dataDir">;
  jobs: Jobs;
  vault: Vault;
  log: Log;
  metrics?: Metrics;
}

/** The payload of the mail job, as JSON in the jobs table. */
interface QueuedMail {
  id: string;
  /** Epoch ms. */
  at: number;
  letter: string;
}

const sealContext = (id: string) => `mail:${id}`;

/** The mails that wait in the jobs table, for the rotation of the root key. */
export const QUEUED_MAILS: SealedColumn = {
  label: "queued mails",
  table: "jobs",
  keyColumns: ["id"],
  where: "kind = 'mail'",
  sealed: "payload",
  jsonPath: "$.letter",
  sealContext: ({ payload }) => sealContext((JSON.parse(String(payload)) as QueuedMail).id),
};

/** With waits of 1 s, 2 s, 4 s, … up to an hour, of which half is random, about 22 hours. */
const MAX_ATTEMPTS = 40;
/** More than the timeouts of all steps of one delivery together. */
const DELIVERY_TIMEOUT_MS = 110_000;

/** Addresses that need no quoting in an SMTP command or a header. Accounts have no others. */
const ADDRESS_PATTERN = /^[^\s\p{C}@<>(),;:\\"[\]]+@[\p{L}\p{M}\p{N}.-]+$/u;

/** Makes a mailer that sends to `config.smtp.url` or, without one, writes each mail to `$DATA_DIR/outbox`. */
export function createMailer({ config, jobs, vault, log, metrics }: MailerDeps): Mailer {
  const { url, from } = config.smtp;
  const transport: MailTransport = url
    ? createSmtp({ url, log })
    : createOutboxFolder({ dir: join(config.dataDir, "outbox"), baseUrl: config.baseUrl, log });
  const host = new URL(config.baseUrl).hostname;
  const outcomeCounter = metrics?.counter("berth_mails_total", "Mails finished, by outcome.", ["outcome"]);

  /** Makes the same message, with the same Message-ID, at every attempt, so that mail programs recognise a duplicate. */
  const toMessage = ({ id, at }: QueuedMail, { to, subject, text, html }: OutgoingMail): Message => ({
    id,
    from,
    to,
    subject: toSingleLine(subject),
    text,
    html,
    messageId: `<${id}@${host}>`,
    date: new Date(at),
  });

  /** Returns the final outcome; throws an error if the job should be retried. */
  async function deliver(queued: QueuedMail, signal: AbortSignal): Promise<"sent" | "late" | "refused"> {
    const letter = JSON.parse(vault.open(queued.letter, sealContext(queued.id))) as OutgoingMail;
    if (letter.expiresAt !== undefined && letter.expiresAt <= Date.now()) {
      log.warn("a mail expired before it could be sent, and is dropped", { mail: queued.id });
      return "late";
    }
    try {
      if (!ADDRESS_PATTERN.test(letter.to)) throw new MailRefused("Mail can't be sent to this address.");
      await transport.send(toMessage(queued, letter), signal);
      return "sent";
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      log.warn("a mail was rejected permanently and is dropped", {
        mail: queued.id,
        to: letter.to,
        why: error.message,
      });
      return "refused";
    }
  }

  jobs.handle(
    "mail",
    async (payload, { signal }) => {
      const outcome = await deliver(payload as QueuedMail, signal);
      outcomeCounter?.labels({ outcome }).inc();
    },
    { concurrency: MAX_CONNECTIONS, timeoutMs: DELIVERY_TIMEOUT_MS },
  );

  return {
    sendStatement(letter) {
      const id = Bun.randomUUIDv7();
      const queued: QueuedMail = { id, at: Date.now(), letter: vault.seal(JSON.stringify(letter), sealContext(id)) };
      return jobs.enqueueStatement("mail", queued, { maxAttempts: MAX_ATTEMPTS });
    },
    close: () => transport.close(),
  };
}
