// Email (channel_e): implements the port over a mailbox, which is read with IMAP and writes with SMTP.
import type { ImapFlow } from "imapflow";
import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import type { ChannelLog, ResolveHost } from "../definition.ts";
import type { Binding, ChannelAdapter, ConnectionListener, RecordTraffic } from "../port.ts";
import { fileGoneError, fileTooLargeError } from "../shared/file-errors.ts";
import { readMailbox } from "./credentials.ts";
import { createDelivery } from "./delivery.ts";
import { imapError, openInbox } from "./imap.ts";
import { createListening, MAX_MAIL_BYTES } from "./listening.ts";
import { takeFile } from "./mail/mail-thread.ts";
import { checkSmtp, sendMail } from "./smtp.ts";

/** Subjects that are kept for answers; others are looked up in the mailbox. */
const MAX_SUBJECTS = 5_000;

export interface EmailOptions {
  log: ChannelLog;
  resolveHost: ResolveHost;
  /** Mails of one sender within an hour; more are left out. */
  perHour: number;
  traffic?: RecordTraffic;
}

export type EmailChannel = ChannelAdapter & { listener: ConnectionListener };

/**
 * Creates the email adapter. A bot is a mailbox; its credentials are one text, as `shared/credential-text.ts` writes it.
 *
 * @example
 * const email = createEmail({ log, resolveHost, perHour: 60 });
 * const mailbox = await email.identify(token, AbortSignal.timeout(30_000));
 */
export function createEmail({ log, resolveHost, perHour, traffic }: EmailOptions): EmailChannel {
  /** The connections that receive, by agent. */
  const connected = new Map<string, ImapFlow>();
  const subjects = createBoundedMap<string>(MAX_SUBJECTS);
  const listen = createListening({
    resolveHost,
    log,
    perHour,
    connected,
    remember({ bot, agentId }, { platformMessageId, text }, subject) {
      subjects.set(`${bot.id} ${platformMessageId}`, subject);
      traffic?.(agentId, 0, Buffer.byteLength(text));
    },
  });

  async function findSubject({ agentId, bot }: Binding, messageId: string): Promise<string> {
    const known = subjects.get(`${bot.id} ${messageId}`);
    const client = connected.get(agentId);
    if (known !== undefined || !client?.usable || !messageId.startsWith("<")) return known ?? "";
    try {
      const found = await client.search({ header: { "message-id": messageId } }, { uid: true });
      const uid = found ? found.at(-1) : undefined;
      const mail = uid === undefined ? false : await client.fetchOne(String(uid), { envelope: true }, { uid: true });
      return (mail ? mail.envelope?.subject : undefined) ?? "";
    } catch (error) {
      // The reply does not fail for its subject.
      log.debug("email: a subject was not found", { agentId, error });
      return "";
    }
  }

  const send = createDelivery({
    findSubject,
    async sendMail({ token, agentId }, mail, signal) {
      await sendMail(readMailbox(token), mail, resolveHost, signal);
      const files = mail.attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
      traffic?.(agentId, Buffer.byteLength(mail.text) + files, 0);
    },
  });

  return {
    async identify(token, signal) {
      const mailbox = readMailbox(token);
      const client = await openInbox(mailbox, resolveHost, signal);
      try {
        const opened = client.mailbox;
        if (!opened) throw imapError(undefined);
        // Mails that lie in the mailbox already are not the agent's.
        const detail = `${opened.uidValidity}:${opened.uidNext - 1}`;
        await checkSmtp(mailbox, resolveHost, signal);
        return { id: mailbox.address, username: mailbox.address, detail };
      } finally {
        client.close();
      }
    },

    listener: { listen },

    send,

    // No `preview`: a sent mail can't be changed. Mails have no sign that one is being written.
    typing: () => Promise.resolve(),

    async fetchFile(binding, { ref }, limit, signal) {
      const [, validity, uid, index] = /^([1-9]\d{0,19})\.([1-9]\d{0,9})\.(0|[1-9]\d?)$/.exec(ref) ?? [];
      if (uid === undefined) throw fileGoneError("The mailbox");
      const mailbox = readMailbox(binding.token);
      const open = connected.get(binding.agentId);
      const client = open?.usable ? open : await openInbox(mailbox, resolveHost, signal);
      try {
        if (!client.mailbox || String(client.mailbox.uidValidity) !== validity) throw fileGoneError("The mailbox");
        const about = await client.fetchOne(uid, { size: true }, { uid: true });
        if (!about) throw fileGoneError("The mailbox");
        if ((about.size ?? 0) > MAX_MAIL_BYTES) throw fileTooLargeError(limit);
        const fetched = await client.fetchOne(uid, { source: true }, { uid: true });
        const source = fetched ? fetched.source : undefined;
        if (!source) throw fileGoneError("The mailbox");
        const file = await takeFile(source, Number(index), signal);
        if (!file) throw fileGoneError("The mailbox");
        if (file.length > limit) throw fileTooLargeError(limit);
        traffic?.(binding.agentId, 0, file.length);
        return file;
      } catch (error) {
        throw imapError(error);
      } finally {
        if (client !== open) client.close();
      }
    },

    forget: ({ agentId }) => void connected.delete(agentId),
  };
}
