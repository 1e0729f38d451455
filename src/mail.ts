// Mail: asked for in the batch of its cause, sent by a job over SMTP, or put into a folder where there is no server.
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { Statement } from "./database.ts";
import type { Jobs } from "./jobs.ts";
import type { Log } from "./log.ts";
import { MailRefused, type Message, oneLine, type Post } from "./mail/message.ts";
import { createOutbox } from "./mail/outbox.ts";
import { CONNECTIONS, createSmtp } from "./mail/smtp.ts";
import type { Metrics } from "./metrics.ts";
import type { Vault } from "./vault.ts";

/** A mail as its author sees it. */
export interface Letter {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Epoch ms. Not sent after that: its link would be dead. */
  expiresAt?: number;
}

export interface Mail {
  /**
   * To be put into the batch of what causes the mail. Links are secrets, so nothing of it is stored in clear.
   * Tried for about a day; what the server refuses for good is logged once and given up.
   */
  send(letter: Letter): Statement;
  close(): void;
}

export interface MailDeps {
  config: Pick<Config, "smtp" | "baseUrl" | "dataDir">;
  jobs: Jobs;
  vault: Vault;
  log: Log;
  metrics?: Metrics;
}

/** A mail as it waits in the jobs table. */
interface Waiting {
  id: string;
  /** Epoch ms. */
  at: number;
  letter: string;
}

/** 1 s, 2 s, 4 s, … up to an hour each, of which a random half: about 22 hours together. */
const ATTEMPTS = 40;
/** Longer than the steps of one delivery may take together. */
const TIMEOUT_MS = 110_000;

/** What can stand in an SMTP command and in a header without quoting. Accounts have no other addresses. */
const ADDRESS = /^[^\s\p{C}@<>(),;:\\"[\]]+@[\p{L}\p{M}\p{N}.-]+$/u;

/** With `config.smtp.url` mail goes there; without, each becomes a file in `$DATA_DIR/outbox`. */
export function createMail({ config, jobs, vault, log, metrics }: MailDeps): Mail {
  const { url, from } = config.smtp;
  const post: Post = url
    ? createSmtp({ url, log })
    : createOutbox({ dir: join(config.dataDir, "outbox"), baseUrl: config.baseUrl, log });
  const host = new URL(config.baseUrl).hostname;
  const ended = metrics?.counter("berth_mails_total", "Mails that are done with, by what became of them.", ["outcome"]);
  const sealedAs = (id: string) => `mail:${id}`;

  /** The same each time, so that a mail sent again after a crash is recognised as the one that was. */
  const messageOf = ({ id, at }: Waiting, { to, subject, text, html }: Letter): Message => ({
    id,
    from,
    to,
    subject: oneLine(subject),
    text,
    html,
    messageId: `<${id}@${host}>`,
    date: new Date(at),
  });

  /** What became of it; throws what is worth another try. */
  async function deliver(waiting: Waiting, signal: AbortSignal): Promise<"sent" | "late" | "refused"> {
    const letter = JSON.parse(vault.open(waiting.letter, sealedAs(waiting.id))) as Letter;
    if (letter.expiresAt !== undefined && letter.expiresAt <= Date.now()) {
      log.warn("A mail was not delivered in time and is dropped.", { mail: waiting.id });
      return "late";
    }
    try {
      if (!ADDRESS.test(letter.to)) throw new MailRefused("This is no address that mail can be sent to.");
      await post.send(messageOf(waiting, letter), signal);
      return "sent";
    } catch (error) {
      if (!(error instanceof MailRefused)) throw error;
      log.warn("A mail was refused for good and is given up.", { mail: waiting.id, to: letter.to, why: error.message });
      return "refused";
    }
  }

  jobs.handle(
    "mail",
    async (payload, { signal }) => {
      const outcome = await deliver(payload as Waiting, signal);
      ended?.labels({ outcome }).inc();
    },
    { concurrency: CONNECTIONS, timeoutMs: TIMEOUT_MS },
  );

  return {
    send(letter) {
      const id = Bun.randomUUIDv7();
      const waiting: Waiting = { id, at: Date.now(), letter: vault.seal(JSON.stringify(letter), sealedAs(id)) };
      return jobs.enqueue("mail", waiting, { maxAttempts: ATTEMPTS });
    },
    close: () => post.close(),
  };
}
