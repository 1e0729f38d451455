// The outbox folder: without a mail server each mail becomes one .eml file that any mail program opens.
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { type Log, unredacted } from "../telemetry/log.ts";
import { type MailTransport, type Message, toNodemailerOptions } from "./message.ts";

export interface OutboxFolderOptions {
  /** Made when the first mail comes. Folder and files are their owner's alone: they hold links. */
  dir: string;
  /** Links to this origin are logged, since nobody may look into the folder. */
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
      log.info("There is no SMTP_URL: a mail was put into the outbox.", {
        to: message.to,
        subject: message.subject,
        file: join("outbox", name),
        ...(link && { link: unredacted(link) }),
      });
    },
    close: () => undefined,
  };
}

/** In order of time, and the same at every try. */
const fileName = ({ date, id }: Message) => `${date.toISOString().replace(/[:.]/g, "-")}-${id}.eml`;

/** Under its name the file is there as a whole or not at all. */
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
