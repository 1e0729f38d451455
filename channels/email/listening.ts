// Receives the mails of a mailbox in the order of their UIDs, over a connection that waits with IDLE (RFC 2177).
import type { ImapFlow } from "imapflow";
import { DAY, HOUR, MINUTE } from "../../src/kernel/util/time.ts";
import type { ChannelLog, ResolveHost } from "../definition.ts";
import { type Binding, ChannelError, type IncomingMessage, type Sink } from "../port.ts";
import { createRateLimiter } from "../shared/rate-limiter.ts";
import { readMailbox } from "./credentials.ts";
import { imapError, openInbox } from "./imap.ts";
import { readMails } from "./mail/mail-thread.ts";

/** Mails that are larger are left out: files of this size can't be passed on anyway. */
export const MAX_MAIL_BYTES = 36_000_000;
/** Mails that are read before they are stored. */
const BATCH = 20;
/** Bytes of a batch, about. */
const BATCH_BYTES = 8_000_000;
/** How often a connection that waits is tried, which also keeps it open at servers and routers. */
const PULSE_MS = 4 * MINUTE;

/** Where receiving goes on. UIDs grow only as long as UIDVALIDITY stays the same (RFC 9051 §2.3.1.1). */
export interface ResumePoint {
  validity: string;
  uid: number;
  /** Epoch seconds at which the last mail arrived. */
  time: number;
  /** Epoch seconds at which the mailbox was connected: what arrived before is not the agent's. */
  from: number;
  /** Epoch seconds: earlier mails are passed over while a mailbox with new UIDs is read again. Otherwise 0. */
  since: number;
}

export const writeResumePoint = ({ validity, uid, time, from, since }: ResumePoint) =>
  [validity, uid, time, from, since].join(":");

/** Of a text that `writeResumePoint` made, or of `validity:uid` of a mailbox that was just connected. */
export function readResumePoint(text: string | undefined): ResumePoint | undefined {
  const [validity = "", uid, time = nowInSeconds(), from = nowInSeconds(), since = 0] = (text ?? "").split(":");
  return uid === undefined
    ? undefined
    : { validity, uid: Number(uid), time: Number(time), from: Number(from), since: Number(since) };
}

interface Deps {
  resolveHost: ResolveHost;
  log: ChannelLog;
  /** Mails of one sender within an hour; more are left out. */
  perHour: number;
  /** Told what a mail was about, for the subject of its answer. */
  remember(binding: Binding, message: IncomingMessage, subject: string): void;
  /** The connection of a bot, for as long as it is open. */
  connected: Map<string, ImapFlow>;
}

export function createListening({ resolveHost, log, perHour, remember, connected }: Deps) {
  const rates = createRateLimiter();
  const rule = { every: HOUR / perHour, burst: perHour };

  async function listen(binding: Binding, sink: Sink, signal: AbortSignal): Promise<void> {
    const mailbox = readMailbox(binding.token);
    let client: ImapFlow | undefined;
    const close = () => client?.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      client = await openInbox(mailbox, resolveHost, signal);
      if (signal.aborted) return;
      connected.set(binding.agentId, client);
      await receive(client, binding, sink, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof ChannelError ? error : imapError(error);
    } finally {
      signal.removeEventListener("abort", close);
      if (connected.get(binding.agentId) === client) connected.delete(binding.agentId);
      client?.close();
    }
  }

  async function receive(client: ImapFlow, binding: Binding, sink: Sink, signal: AbortSignal): Promise<void> {
    const opened = client.mailbox;
    if (!opened) throw new Error("No mailbox is open.");
    const validity = String(opened.uidValidity);
    const known = readResumePoint(binding.resume) ?? readResumePoint(binding.bot.detail);
    const now = nowInSeconds();
    const start: ResumePoint = known ?? { validity, uid: opened.uidNext - 1, time: now, from: now, since: 0 };
    // The mailbox was made anew, and its mails have other UIDs: those that arrived since the last one are read again, and a
    // day before, because a restored mailbox may date them otherwise. The inbox knows by their Message-IDs which it has.
    const isRenumbered = start.validity !== validity;
    const since = Math.max(start.time - DAY / 1000, start.from);
    let point: ResumePoint = isRenumbered ? { ...start, validity, uid: 0, since } : start;
    if (binding.resume === undefined || isRenumbered) sink.saveResumePoint(writeResumePoint(point));
    sink.reportAlive();
    let change = Promise.withResolvers<void>();
    client.on("exists", () => change.resolve());
    client.on("close", () => change.resolve());
    for (;;) {
      change = Promise.withResolvers();
      point = { ...(await takeNew(client, { binding, sink, point, signal })), since: 0 };
      if (signal.aborted) return;
      if (!client.usable) throw new Error("The connection was closed.");
      sink.reportAlive();
      const pulse = setTimeout(() => change.resolve(), PULSE_MS);
      // A command that follows ends it.
      void client.idle().catch(() => change.resolve());
      await change.promise;
      clearTimeout(pulse);
      if (signal.aborted) return;
      await client.noop();
    }
  }

  interface Pass {
    binding: Binding;
    sink: Sink;
    point: ResumePoint;
    signal: AbortSignal;
  }

  /** Hands all mails behind the point over, in batches, and returns the new point. */
  async function takeNew(client: ImapFlow, { binding, sink, point, signal }: Pass): Promise<ResumePoint> {
    const found: { uid: number; size: number; time: number }[] = [];
    let highest = point.uid;
    const range = `${point.uid + 1}:*`;
    for await (const { uid, size = 0, internalDate } of client.fetch(
      range,
      { uid: true, size: true, internalDate: true },
      { uid: true },
    )) {
      const time = Math.floor(new Date(internalDate ?? Date.now()).getTime() / 1000);
      highest = Math.max(highest, uid);
      // `*` is the last mail also if it lies before the range.
      if (uid > point.uid && time >= point.since) found.push({ uid, size, time });
    }
    found.sort((a, b) => a.uid - b.uid);
    let last = point;
    while (found.length > 0) {
      const batch: typeof found = [];
      let bytes = 0;
      while (found[0] && batch.length < BATCH && (batch.length === 0 || bytes + found[0].size <= BATCH_BYTES)) {
        bytes += found[0].size;
        batch.push(found[0]);
        found.shift();
      }
      last = await takeBatch(client, { binding, sink, point: last, signal }, batch);
    }
    if (highest === last.uid) return last;
    // Behind the last one that was taken lie mails that were passed over.
    const reached = { ...last, uid: highest };
    sink.saveResumePoint(writeResumePoint(reached));
    return reached;
  }

  async function takeBatch(
    client: ImapFlow,
    { binding, sink, point, signal }: Pass,
    batch: readonly { uid: number; size: number; time: number }[],
  ): Promise<ResumePoint> {
    const { agentId, token } = binding;
    const { address: own, trustedServer } = readMailbox(token);
    const sources = await fetchSources(
      client,
      batch.filter(({ size }) => size <= MAX_MAIL_BYTES).map(({ uid }) => uid),
    );
    const found = batch.flatMap(({ uid, time }) => {
      const source = sources.get(uid);
      const place = { own, trustedServer, ref: `${point.validity}.${uid}`, arrivedAt: time * 1000 };
      return source ? [{ uid, source, place }] : [];
    });
    const mails = await readMails(found, signal);
    const messages: IncomingMessage[] = [];
    const taken: number[] = [];
    for (const [index, { uid }] of found.entries()) {
      const mail = mails[index];
      const reason = mail === undefined || "leftOut" in mail ? mail?.leftOut : overRate(binding, mail.message);
      if (mail === undefined || "leftOut" in mail || reason !== undefined) {
        log.debug("email: a mail was left out", { agentId, uid, reason });
        continue;
      }
      remember(binding, mail.message, mail.subject);
      messages.push(mail.message);
      taken.push(uid);
    }
    if (messages.length > 0) {
      try {
        await sink.accept(messages);
      } catch (cause) {
        throw new ChannelError("unreachable", "The messages could not be stored.", "bot", undefined, { cause });
      }
    }
    const [{ uid, time }] = [batch.at(-1) ?? point];
    const reached = { ...point, uid, time };
    sink.saveResumePoint(writeResumePoint(reached));
    // For people who look into the mailbox; what was left out stays unread.
    if (taken.length > 0) await client.messageFlagsAdd(taken.join(","), ["\\Seen"], { uid: true });
    return reached;
  }

  /** Two programs that answer each other without a word about it are stopped here. */
  function overRate({ bot }: Binding, { sender }: IncomingMessage): string | undefined {
    const key = `${bot.id} ${sender.id}`;
    if (rates.waitTime(key, rule) > 0) return "too many of this sender";
    rates.take(key, rule);
    return undefined;
  }

  return listen;
}

async function fetchSources(client: ImapFlow, uids: readonly number[]): Promise<Map<number, Uint8Array>> {
  const sources = new Map<number, Uint8Array>();
  if (uids.length === 0) return sources;
  for await (const { uid, source } of client.fetch(uids.join(","), { uid: true, source: true }, { uid: true })) {
    if (source) sources.set(uid, source);
  }
  return sources;
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);
