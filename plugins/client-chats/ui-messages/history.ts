// Shows stored messages of a conversation in the form of `useChat`, with the ids, parts and order that its streams give them.
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { noticeIdOf, type runtime as runtimePlugin } from "../../runtime/index.ts";
import { callIdOf } from "./call-ids.ts";
import type { UiPart } from "./model.ts";
import { outputOf } from "./tool-output.ts";
import { GAP } from "./ui-request.ts";

type Readers = Awaited<ReturnType<ServiceOf<typeof runtimePlugin>["conversationReaders"]>>;
type MessageView = Awaited<ReturnType<Readers["messages"]>>["messages"][number];
type Answers = Awaited<ReturnType<Readers["answers"]>>;

interface Chat {
  agentId: string;
  baseUrl: string;
  /** As they are read. */
  newestFirst: readonly MessageView[];
  /** What the journals of their turns have. */
  answers: Answers;
  /** Whether the message of this turn was sent before, and its answer made anew. */
  isAskedAnew(turnId: string): boolean;
}

export const toUiMessages = ({ agentId, baseUrl, newestFirst, answers, isAskedAnew }: Chat) =>
  withAnswersMadeAnew(
    newestFirst
      // The question of a turn that waited; the turn's own message follows.
      .filter(({ id, turnId }) => id !== noticeIdOf({ id: turnId }))
      .reverse(),
    isAskedAnew,
  ).map((message) => {
    const { id, role, turnId, createdAt } = message;
    const said = role === "assistant" ? stepParts(message, answers.get(turnId) ?? []) : textParts(message.text);
    const parts = [...said, ...fileParts(message, agentId, baseUrl)];
    // A stored message of the user has the id of its turn, by which the streams name the agent's.
    return { id: role === "assistant" ? turnId : `user-${id}`, role, metadata: { createdAt, turnId }, parts };
  });

/** As the page showed it: an answer that is made anew takes the place of all that followed its message. */
function withAnswersMadeAnew(messages: readonly MessageView[], isAskedAnew: Chat["isAskedAnew"]): MessageView[] {
  const shown: MessageView[] = [];
  for (const message of messages) {
    const { role, text, turnId } = message;
    const before =
      role === "user" && isAskedAnew(turnId)
        ? shown.findLastIndex((earlier) => earlier.role === "user" && earlier.text === text)
        : -1;
    if (before < 0) shown.push(message);
    else shown.splice(before + 1);
  }
  return shown;
}

/**
 * The steps of a reply: each answer of the model with its calls. Where the journal is gone, or has a text only shortened, the calls
 * come first and the text last.
 */
function stepParts({ turnId, steps, text }: MessageView, answers: NonNullable<ReturnType<Answers["get"]>>): UiPart[] {
  const calls = steps.map((step, place) => toolPart(step, callIdOf(turnId, place)));
  const parts: UiPart[] = [];
  let rest = text;
  for (const answer of answers) {
    const before = rest !== text && rest.startsWith(GAP) ? GAP : "";
    const isNext = answer.text !== "" && rest.startsWith(before + answer.text);
    if (isNext) rest = rest.slice(before.length + answer.text.length);
    parts.push(STEP_START, ...textParts(isNext ? answer.text : ""), ...calls.splice(0, answer.calls));
  }
  const end = [...calls, ...textParts(rest !== text && rest.startsWith(GAP) ? rest.slice(GAP.length) : rest)];
  return [...parts, ...(end.length > 0 ? [STEP_START, ...end] : [])];
}

const STEP_START: UiPart = { type: "step-start" };

const toolPart = ({ name, input, result, ok }: MessageView["steps"][number], toolCallId: string): UiPart => ({
  type: "dynamic-tool",
  toolName: name,
  toolCallId,
  input,
  ...(ok ? { state: "output-available", output: outputOf(result) } : { state: "output-error", errorText: result }),
  providerExecuted: true,
});

const textParts = (text: string): UiPart[] => (text === "" ? [] : [{ type: "text", text, state: "done" }]);

const fileParts = ({ attachments }: MessageView, agentId: string, baseUrl: string): UiPart[] =>
  attachments.map(({ id, name, type }) => ({
    type: "file",
    mediaType: type,
    filename: name,
    url: `${baseUrl}/api/agents/${agentId}/uploads/${id}`,
  }));
