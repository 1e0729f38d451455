// Shows messages and their turns as tasks of the A2A protocol.
import { type Artifact, type Message, type Part, Role, type Task, TaskState } from "@a2a-js/sdk";
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

/** The text of a message: its texts and data, in order. Undefined if there is neither. */
export function textOf({ parts }: Pick<Message, "parts">): string | undefined {
  const texts = parts.flatMap(({ content }) => {
    if (content?.$case === "text") return [content.value];
    return content?.$case === "data" ? [JSON.stringify(content.value)] : [];
  });
  const text = texts.join("\n").trim();
  return text === "" ? undefined : text.toWellFormed().replaceAll("\0", "");
}
