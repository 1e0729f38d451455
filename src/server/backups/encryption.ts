// Encrypts and decrypts backups in the format of age (https://age-encryption.org/v1), as streams. The library is loaded at the first use.

import { readFileSync } from "node:fs";
import { StartError } from "../../kernel/errors.ts";

/** The first bytes of an encrypted file. */
export const AGE_HEADER = "age-encryption.org/v1";

export async function encryptTo(
  recipients: readonly string[],
  bytes: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient);
    } catch (cause) {
      throw new StartError(`BACKUP_ENCRYPT_TO: ${recipient} is not a whole public key of age. age-keygen prints one.`, {
        cause,
      });
    }
  }
  return encrypter.encrypt(bytes);
}

/** Throws StartError if none of the identities opens it. */
export const decryptWith = async (
  identities: readonly string[],
  bytes: ReadableStream<Uint8Array>,
): Promise<ReadableStream<Uint8Array>> => (await decrypterOf(identities)).decrypt(bytes).catch(toOpenError);

/** The same for a file in memory. */
export const decryptBytes = async (identities: readonly string[], bytes: Uint8Array): Promise<Uint8Array> =>
  (await decrypterOf(identities)).decrypt(bytes).catch(toOpenError);

async function decrypterOf(identities: readonly string[]) {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  for (const identity of identities) decrypter.addIdentity(identity);
  return decrypter;
}

function toOpenError(cause: unknown): never {
  if (!(cause instanceof Error && /no identity matched/i.test(cause.message))) throw cause;
  throw new StartError("The identity does not open this backup: it was encrypted to other keys.", { cause });
}

/** The identities in a file of age-keygen: a line each, beside comments. Throws StartError. */
export function readIdentities(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new StartError(`The identity ${path} can't be read. Give the file that age-keygen has written.`, { cause });
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => /^AGE-SECRET-KEY-/.test(line));
  if (identities.length > 0) return identities;
  const advice = text.startsWith(AGE_HEADER)
    ? "It is encrypted by a passphrase: decrypt it first, with age --decrypt."
    : "It should have a line that starts with AGE-SECRET-KEY-, as age-keygen writes it.";
  throw new StartError(`There is no identity in ${path}. ${advice}`);
}
