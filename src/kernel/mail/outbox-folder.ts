// Writes mails to a folder when there is no mail server, each as an .eml file for any mail program.
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Log, unredacted } from "../telemetry/log.ts";
import { type MailTransport, type Message, toNodemailerOptions } from "./message.ts";

export interface OutboxFolderOptions {
  /** Created with the first mail. Only the owner can read the folder and its files, since they hold links. */
  dir: string;
  /** Links to this origin are also logged, because users may not know the folder. */
  baseUrl: string;
  log: Log;
}

export function createOutboxFolder({ dir, baseUrl, log }: OutboxFolderOptions): MailTransport {
  const findLink = (text: string) => text.split("\n").find((line) => line.startsWith(`${baseUrl}/`));

  return {
    async send(message) {
      const name = fileName(message);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeAtomically(join(dir, name), await compose(message));
      const link = findLink(message.text);
      log.info("SMTP_URL is not set: a mail was written to the outbox folder", {
        to: message.to,
        subject: message.subject,
        file: join("outbox", name),
        ...(link && { link: unredacted(link) }),
      });
    },
    close: () => undefined,
  };
}

/** Names sort by time, and are the same at every attempt. */
const fileName = ({ date, id }: Message) => `${date.toISOString().replace(/[:.]/g, "-")}-${id}.eml`;

/** Writes to a temporary file and renames it, so that the file exists completely or not at all. */
async function writeAtomically(path: string, bytes: Buffer): Promise<void> {
  const temporaryPath = `${path}.part`;
  const file = await open(temporaryPath, "w", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporaryPath, path);
}

async function compose(message: Message): Promise<Buffer> {
  const { createTransport } = await import("nodemailer");
  const { message: composed } = await createTransport({
    streamTransport: true,
    buffer: true,
    newline: "windows",
  }).sendMail(toNodemailerOptions(message));
  if (!Buffer.isBuffer(composed)) throw new Error("The mail was composed as a stream.");
  return composed;
}
