// Sends a file in the ways that a platform has for it, and tells its reader where it is if the platform takes it in none.
import type { OutgoingFile } from "../port.ts";

/** Why a file is not sent, after "can't be sent here: ". */
export const tooLarge = (platform: string, bytes: number) => `${platform} takes files of up to ${inMegabytes(bytes)}.`;
export const wrongKind = (platform: string) => `${platform} does not take files of this kind.`;
export const notTaken = (platform: string) => `${platform} did not take it.`;
export const GONE = "it was deleted meanwhile.";

/** The text in place of a file, for its reader. */
export function notice({ name, size, address, words, inReadersLanguage: say }: OutgoingFile, reason: string): string {
  if (words !== undefined) return words;
  const what = `${name} (${inMegabytes(size)})`;
  if (reason === GONE) return say(`${what} can't be sent here: ${reason}`);
  if (address === undefined)
    return say(`${what} can't be sent here: ${reason} The owner of this agent can pass it on.`);
  return say(`${what} can't be sent here: ${reason} You find it here: ${address}`);
}

const inMegabytes = (bytes: number) =>
  bytes < 100_000
    ? `${Math.max(1, Math.round(bytes / 1_000))} kB`
    : `${(bytes / 1e6).toFixed(1).replace(/\.0$/, "")} MB`;

export interface FileSending<Way> {
  file: OutgoingFile;
  /** The ways to send it, the best first; none with the reason. */
  ways: readonly Way[] | string;
  /** The platform's name, for people. */
  platform: string;
  /** Sends the file in one way; returns the platform's id of the message. */
  send(way: Way, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Whether an error says that the platform does not take the file in this way, while another message may be sent. */
  isRefused(error: unknown): boolean;
  /** Sends a text instead. */
  sendText(text: string): Promise<string>;
}

/** Returns the platform's id of the message that was sent. */
export async function sendFile<Way>(sending: FileSending<Way>): Promise<string> {
  const { file, ways, platform, send, isRefused, sendText } = sending;
  if (typeof ways === "string") return sendText(notice(file, ways));
  const sent = await file.withBytes(async (bytes) => {
    if (!bytes) return { reason: GONE };
    for (const way of ways) {
      try {
        return { id: await send(way, bytes) };
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
    }
    return { reason: notTaken(platform) };
  });
  return "id" in sent ? sent.id : sendText(notice(file, sent.reason));
}
