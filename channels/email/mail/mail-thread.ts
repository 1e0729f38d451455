// Reads mails on threads that end with them, so that neither large nor hostile ones hold up other work.
import { runOnThread } from "../../../src/kernel/util/one-shot-thread.ts";
import { createSemaphore } from "../../../src/kernel/util/semaphore.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { workerPath } from "../../../src/kernel/worker-path.ts";
import type { MailPlace, ReadMail } from "./message.ts";

export interface MailSource {
  source: Uint8Array;
  place: MailPlace;
}

/** Mails to read, or the file of a mail to take out. */
export type MailRequest = { mails: readonly MailSource[] } | { source: Uint8Array; part: number };
export type MailReply = { mails: ReadMail[] } | { file: Uint8Array | undefined };

const WORKER = workerPath("channels/email/mail/mail-worker.ts");
/** Threads at once: one that takes long must not hold up all mailboxes. */
const threads = createSemaphore(2);
const LIMIT_MS = 15 * SECOND;

const run = (request: MailRequest, signal: AbortSignal, timeoutMs: number) =>
  threads.run(
    () =>
      runOnThread<MailRequest, MailReply | undefined>(WORKER, request, {
        signal,
        timeoutMs,
        tooLong: undefined,
        failed: undefined,
      }),
    { signal },
  );

/** What each mail is, in order. If one of several takes too long, they are read one by one, and that one is left out. */
export async function readMails(
  mails: readonly MailSource[],
  signal: AbortSignal,
  timeoutMs = LIMIT_MS,
): Promise<ReadMail[]> {
  if (mails.length === 0) return [];
  const reply = await run({ mails }, signal, timeoutMs);
  if (reply && "mails" in reply) return reply.mails;
  if (mails.length === 1) return [{ leftOut: "takes too long to read" }];
  const each: ReadMail[] = [];
  for (const mail of mails) each.push(...(await readMails([mail], signal, timeoutMs)));
  return each;
}

/** The bytes of a file of a mail, by its place there; undefined if there is none. */
export async function takeFile(source: Uint8Array, part: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const reply = await run({ source, part }, signal, LIMIT_MS);
  return reply && "file" in reply ? reply.file : undefined;
}
