// Reads the queued mails of a service in the test's process from its job table: no background work sends them.
import type { OutgoingMail } from "../../src/kernel/mail/mailer.ts";
import type { TestServer } from "./server.ts";

/** The queued mails to this address, oldest first. */
export async function queuedMailsTo({ kernel }: TestServer, email: string): Promise<OutgoingMail[]> {
  const { rows } = await kernel.database.read("SELECT payload FROM jobs WHERE kind = 'mail' ORDER BY id");
  return rows
    .map(({ payload }): { id: string; letter: string } => JSON.parse(String(payload)))
    .map(({ id, letter }): OutgoingMail => JSON.parse(kernel.vault.open(letter, `mail:${id}`)))
    .filter(({ to }) => to === email);
}
