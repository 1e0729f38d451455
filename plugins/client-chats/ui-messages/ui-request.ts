// Reads what a request of `useChat` is about: the new message of the user, or decisions about calls that wait for approval.
import { createHash } from "node:crypto";
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { ClientFile } from "../client-messages.ts";
import type { UiChatBody, UiMessage, UiPart } from "./model.ts";

export interface Decision {
  approvalId: string;
  approved: boolean;
}

/** What the client shows of a turn already. */
export interface ShownTurn {
  /** Characters of the turn's text. */
  characters: number;
  /** The calls, and whether it has their results. */
  calls: ReadonlyMap<string, boolean>;
}

export type UiRequest =
  | { kind: "message"; key: string; text: string; files: ClientFile[]; attachments: string[] }
  | { kind: "decisions"; turnId: string; decisions: Decision[]; shown: ShownTurn };

const text = (part: UiPart, name: string): string => {
  const value: unknown = part[name];
  return typeof value === "string" ? value : "";
};

/** @throws AppError 400 for a body without a message */
export function readUiRequest(agentId: string, chatId: string, body: UiChatBody): UiRequest {
  if (typeof body.message === "string") {
    return readMessage(chatId, body, { role: "user", parts: [{ type: "text", text: body.message }] }, agentId);
  }
  const last = body.message ?? body.messages?.at(-1);
  if (!last) throw invalidInput({ path: "messages", message: "Give at least one message." });
  if (last.role === "user") return readMessage(chatId, body, last, agentId);
  const decisions = last.role === "assistant" ? readDecisions(last.parts) : [];
  if (decisions.length > 0) {
    return { kind: "decisions", turnId: last.id ?? "", decisions, shown: readShown(last.parts) };
  }
  const message = "The last message must be the user's, or one of the agent's with answered requests for approval.";
  throw invalidInput({ path: "messages", message });
}

function readMessage(chatId: string, body: UiChatBody, { id, parts }: UiMessage, agentId: string): UiRequest {
  const texts = parts.filter(({ type }) => type === "text").map((part) => text(part, "text"));
  const found = parts.filter(({ type }) => type === "file").map((part, n) => readFile(part, n, agentId));
  const files = found.flatMap((one) => ("data" in one ? [one] : []));
  const attachments = found.flatMap((one) => ("uploadId" in one ? [one.uploadId] : []));
  const content = texts.join("\n\n");
  if (content.trim() === "" && found.length === 0) {
    throw invalidInput({ path: "messages", message: "The last message has neither text nor a file." });
  }
  return {
    kind: "message",
    key: keyOf(chatId, body, id, [content, files, attachments]),
    text: content,
    files,
    attachments,
  };
}

/**
 * Names the message: sent again after a lost connection it has the same name, and is not answered twice. A message without an id,
 * or whose answer is to be made anew, is a new one.
 */
function keyOf(chatId: string, { trigger, messageId }: UiChatBody, id: string | undefined, content: unknown): string {
  const isAnew = trigger === "regenerate-message";
  const again = isAnew ? (messageId ?? crypto.randomUUID()) : "";
  const name = JSON.stringify([chatId, id ?? crypto.randomUUID(), again, content]);
  return `${isAnew ? ASKED_ANEW : "chat:"}${createHash("sha256").update(name).digest("base64url")}`;
}

/** The beginning of the key of a message that was sent before, whose answer is made anew. */
export const ASKED_ANEW = "chat:again:";

const UPLOAD = /^(?:https?:\/\/[^/]+)?\/api\/agents\/([^/]+)\/uploads\/([0-9a-f-]{36})$/;

/** A file in the message itself, or one that was uploaded for the agent. */
function readFile(part: UiPart, n: number, agentId: string): ClientFile | { uploadId: string } {
  const url = text(part, "url");
  const [, owner, uploadId] = UPLOAD.exec(url) ?? [];
  if (uploadId !== undefined && owner === agentId) return { uploadId };
  const comma = url.indexOf(",");
  const [type = "", ...parameters] = url.startsWith("data:") ? url.slice(5, comma).split(";") : [];
  if (comma < 0 || !parameters.includes("base64")) {
    const message =
      "Send a file as a data: address in base64, or upload it with POST /api/agents/:id/uploads and send its address.";
    throw invalidInput({ path: `parts.${n}.url`, message });
  }
  return { name: text(part, "filename") || "file", type: text(part, "mediaType") || type, data: url.slice(comma + 1) };
}

const isTool = ({ type }: UiPart) => type === "dynamic-tool" || type.startsWith("tool-");

function readDecisions(parts: readonly UiPart[]): Decision[] {
  return parts.flatMap((part) => {
    if (!isTool(part) || part.state !== "approval-responded") return [];
    const approval: unknown = part.approval;
    if (typeof approval !== "object" || approval === null || !("id" in approval) || !("approved" in approval))
      return [];
    if (typeof approval.id !== "string" || typeof approval.approved !== "boolean") return [];
    return [{ approvalId: approval.id, approved: approval.approved }];
  });
}

/** What marks a text that is none of the turn's: a call waits, a text was cut, and the words about that. */
export const NOTICE = {
  approval: { berth: { notice: "approval" } },
  cut: { berth: { notice: "cut" } },
  anew: { berth: { notice: "anew" } },
};
const NOTICES = new Set(Object.values(NOTICE).map((notice) => JSON.stringify(notice)));
const isNotice = ({ providerMetadata }: UiPart) => NOTICES.has(JSON.stringify(providerMetadata));

/** Between two texts of a turn are two line breaks, which their parts don't have. */
export const GAP = "\n\n";

function readShown(parts: readonly UiPart[]): ShownTurn {
  const texts = parts.filter((part) => part.type === "text" && !isNotice(part)).map((part) => text(part, "text"));
  const calls = parts
    .filter(isTool)
    .map((part): [string, boolean] => [text(part, "toolCallId"), text(part, "state").startsWith("output-")]);
  return { characters: texts.join(GAP).length, calls: new Map(calls) };
}
