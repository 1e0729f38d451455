// Reads the new message out of a request: clients send their whole history, of which the agent keeps its own.
import { createHash } from "node:crypto";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { ClientFile } from "../client-chats/index.ts";
import type { ContentPart, SourceMessage } from "../openai-api/index.ts";

export interface NewMessage {
  text: string;
  files: ClientFile[];
  /** What the app says to the model; empty for none. */
  system: string;
  /** Names the user's messages up to and with this one. */
  chain: string;
  /** Names those before it; undefined if it is the first one. */
  earlierChain: string | undefined;
  /** The answer before it, as the client shows it. */
  lastAnswer: string;
}

/** A short name of texts. */
export const digest = (...texts: readonly string[]) =>
  createHash("sha256").update(JSON.stringify(texts)).digest("base64url").slice(0, 22);

const textOf = (content: readonly ContentPart[]) =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

const filesOf = (content: readonly ContentPart[]): ClientFile[] =>
  content.flatMap((part) =>
    part.type === "file" ? [{ name: part.name ?? nameOf(part.mediaType), type: part.mediaType, data: part.data }] : [],
  );

const nameOf = (mediaType: string) => `file.${mediaType.split("/")[1]?.replace(/\W.*$/, "") || "bin"}`;

/**
 * All that the user has written since the last answer is the new message.
 * @throws AppError 400 where the last message is not the user's, or is empty
 */
export function readNewMessage(messages: readonly SourceMessage[]): NewMessage {
  const spoken = messages.filter(({ role }) => role !== "system");
  const last = spoken.findLastIndex(({ role }) => role !== "user");
  const [before, latest] = [spoken.slice(0, last + 1), spoken.slice(last + 1)];
  if (latest.length === 0) throw invalidInput({ path: "messages", message: "The last message must be the user's." });
  const text = latest.map(({ content }) => textOf(content)).join("\n\n");
  const files = latest.flatMap(({ content }) => filesOf(content));
  if (text.trim() === "" && files.length === 0) {
    throw invalidInput({ path: "messages", message: "The last message has neither text nor a file." });
  }
  const earlier = before.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  const answer = before.findLast(({ role }) => role === "assistant");
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content));
  return {
    text,
    files,
    system: system.filter((one) => one.trim() !== "").join("\n\n"),
    chain: digest(...earlier, text),
    earlierChain: earlier.length > 0 ? digest(...earlier) : undefined,
    lastAnswer: answer ? textOf(answer.content) : "",
  };
}

/**
 * Open WebUI asks its chat's model for the chat's title, tags and next questions; these are not part of the chat. Its templates
 * begin so and quote the chat.
 */
export const isTaskOfApp = (text: string) => text.startsWith("### Task:") && text.includes("<chat_history>");
