// Shows stored messages of a conversation in the form of `useChat`, under the ids that its streams give them.
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { noticeIdOf, type runtime as runtimePlugin } from "../../runtime/index.ts";
import type { UiPart } from "./model.ts";

type Readers = Awaited<ReturnType<ServiceOf<typeof runtimePlugin>["conversationReaders"]>>;
type MessageView = Awaited<ReturnType<Readers["messages"]>>["messages"][number];

/** @param newestFirst as they are read */
export const toUiMessages = (agentId: string, baseUrl: string, newestFirst: readonly MessageView[]) =>
  newestFirst
    // The question of a turn that waited; the turn's own message follows.
    .filter(({ id, turnId }) => id !== noticeIdOf({ id: turnId }))
    .map((message) => {
      const { id, role, turnId, createdAt } = message;
      const parts = [...toolParts(message), ...textParts(message), ...fileParts(message, agentId, baseUrl)];
      // A stored message of the user has the id of its turn, by which the streams name the agent's.
      return { id: role === "assistant" ? turnId : `user-${id}`, role, metadata: { createdAt, turnId }, parts };
    })
    .reverse();

const toolParts = ({ turnId, steps }: MessageView): UiPart[] =>
  steps.map(({ name, input, result, ok }, n) => ({
    type: "dynamic-tool",
    toolName: name,
    toolCallId: `${turnId}.${n}`,
    input,
    ...(ok ? { state: "output-available", output: result } : { state: "output-error", errorText: result }),
    providerExecuted: true,
  }));

const textParts = ({ text }: MessageView): UiPart[] => (text === "" ? [] : [{ type: "text", text, state: "done" }]);

const fileParts = ({ attachments }: MessageView, agentId: string, baseUrl: string): UiPart[] =>
  attachments.map(({ id, name, type }) => ({
    type: "file",
    mediaType: type,
    filename: name,
    url: `${baseUrl}/api/agents/${agentId}/uploads/${id}`,
  }));
