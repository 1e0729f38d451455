// Mail: asked for in the batch of its cause, sent by a job over SMTP, or put into a folder where there is no server.
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Statement } from "../database/database.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Vault } from "../security/vault.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { MailRefused, type MailTransport, type Message, toSingleLine } from "./message.ts";
import { createOutboxFolder } from "./outbox-folder.ts";
import { createSmtp, MAX_CONNECTIONS } from "./smtp.ts";

/** A mail as its author sees it. */
export interface OutgoingMail {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Epoch ms. Not sent after that: its link would be dead. */
  expiresAt?: number;
}

export interface Mailer {
  /**
   * To be put into the batch of what causes the mail. Links are secrets, so nothing of it is stored in clear.
   * Tried for about a day; what the server refuses for good is logged once and given up.
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

/** A mail as it waits in the jobs table. */
interface QueuedMail {
  id: string;
  /** Epoch ms. */
  at: number;
  letter: string;
}

/** 1 s, 2 s, 4 s, … up to an hour each, of which a random half: about 22 hours together. */
const MAX_ATTEMPTS = 40;
/** Longer than the steps of one delivery may take together. */
const DELIVERY_TIMEOUT_MS = 110_000;

/** What can stand in an SMTP command and in a header without quoting. Accounts have no other addresses. */
const ADDRESS_PATTERN = /^[^\s\p{C}@<>(),;:\\"[\]]+@[\p{L}\p{M}\p{N}.-]+$/u;

/** With `config.smtp.url` mail goes there; without, each becomes a file in `$DATA_DIR/outbox`. */
export function createMailer({ config, jobs, vault, log, metrics }: MailerDeps): Mailer {
  const { url, from } = config.smtp;
  const transport: MailTransport = url
    ? createSmtp({ url, log })
    : createOutboxFolder({ dir: join(config.dataDir, "outbox"), baseUrl: config.baseUrl, log });
  const host = new URL(config.baseUrl).hostname;
  const outcomeCounter = metrics?.counter("berth_mails_total", "Mails that are done with, by what became of them.", [
    "outcome",
  ]);
  const sealContext = (id: string) => `mail:${id}`;

  /** The same each time, so that a mail sent again after a crash is recognised as the one that was. */
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

  /** What became of it; throws what is worth another try. */
  async function deliver(queued: QueuedMail, signal: AbortSignal): Promise<"sent" | "late" | "refused"> {
    const letter = JSON.parse(vault.open(queued.letter, sealContext(queued.id))) as OutgoingMail;
    if (letter.expiresAt !== undefined && letter.expiresAt <= Date.now()) {
      log.warn("A mail was not delivered in time and is dropped.", { mail: queued.id });
      return "late";
    }
    try {
      if (!ADDRESS_PATTERN.test(letter.to)) throw new MailRefused("This is no address that mail can be sent to.");
      await transport.send(toMessage(queued, letter), signal);
      return "sent";
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      log.warn("A mail was refused for good and is given up.", { mail: queued.id, to: letter.to, why: error.message });
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
