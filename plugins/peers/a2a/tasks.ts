// Shows messages and their turns as tasks of the A2A protocol.
import { type Artifact, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import type { PeerOutcome } from "./visits.ts";

const STATES: Readonly<Record<PeerOutcome["status"], TaskState>> = {
  waiting: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  done: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

const textPart = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});

/** The reply, or a part of it. */
export const replyArtifact = (text: string): Artifact => ({
  artifactId: "reply",
  name: "reply",
  description: "",
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

export interface TaskIds {
  taskId: string;
  contextId: string;
}

/** What a failure means for the other agent; the reason is the owner's business. */
const FAILED = "The agent could not answer. Try again later.";

export function statusOf(
  status: PeerOutcome["status"],
  { taskId, contextId }: TaskIds,
  at = Date.now(),
): NonNullable<Task["status"]> {
  const message: Message | undefined =
    status === "failed"
      ? {
          messageId: `${taskId}-failed`,
          contextId,
          taskId,
          role: Role.ROLE_AGENT,
          parts: [textPart(FAILED)],
          metadata: undefined,
          extensions: [],
          referenceTaskIds: [],
        }
      : undefined;
  return { state: STATES[status], message, timestamp: new Date(at).toISOString() };
}

export const toTask = (ids: TaskIds, { status, reply, at }: Pick<PeerOutcome, "status" | "reply" | "at">): Task => ({
  id: ids.taskId,
  contextId: ids.contextId,
  status: statusOf(status, ids, at ?? undefined),
  artifacts: reply === null ? [] : [replyArtifact(reply)],
  history: [],
  metadata: undefined,
});

const TEXT_FILE = /^(?:text\/[\w.+-]+|application\/(?:json|xml|yaml|[\w.-]+\+(?:json|xml)))(?:\s*;|$)/i;

/**
 * The text of a message: its texts, data and text files, in order. Undefined if there is none. Throws
 * `ContentTypeNotSupportedError` for other files, and for addresses of files.
 */
export function textOf({ parts }: Pick<Message, "parts">): string | undefined {
  const texts = parts.flatMap(({ content, filename, mediaType }) => {
    switch (content?.$case) {
      case "text":
        return [content.value];
      case "data":
        return [JSON.stringify(content.value)];
      case "raw":
        return [textOfFile(content.value, filename, mediaType)];
      case "url":
        throw new ContentTypeNotSupportedError("Send the file itself: its address is not opened.");
      default:
        return [];
    }
  });
  const text = texts.join("\n").trim();
  return text === "" ? undefined : text.toWellFormed().replaceAll("\0", "");
}

function textOfFile(bytes: Uint8Array, filename: string, mediaType: string): string {
  if (!TEXT_FILE.test(mediaType)) {
    throw new ContentTypeNotSupportedError("Only text files are read: text/…, or application/json, xml or yaml.");
  }
  const name = oneLine(filename);
  try {
    return `[file${name === "" ? "" : ` ${name}`}]\n${new TextDecoder("utf-8", { fatal: true }).decode(bytes)}`;
  } catch {
    // The decoder throws for every other encoding.
    throw new ContentTypeNotSupportedError("Only text files in UTF-8 are read.");
  }
}
