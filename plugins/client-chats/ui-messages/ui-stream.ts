// Writes the events of a turn as chunks of the AI SDK's UI message stream, which `useChat` makes a message of.
import type { Language } from "../../../src/kernel/pages/language.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { SentFile } from "../../runtime/index.ts";
import { callWords, waitingWords } from "../approval-words.ts";
import type { TurnEvent, TurnStatus } from "../turn-events.ts";
import { createCallIds } from "./call-ids.ts";
import { createShownText, type NewText } from "./shown-text.ts";
import { outputOf } from "./tool-output.ts";
import { GAP, NOTICE, type ShownTurn } from "./ui-request.ts";

export interface UiTurn {
  turnId: string;
  agentId: string;
  /** Without a slash at its end. */
  baseUrl: string;
  language: Language;
  /** Whether the client may decide about calls that wait for approval: only then it gets the question with its answers. */
  canDecide: boolean;
  /** What the client has of it already; then it gets only what follows. */
  shown?: ShownTurn | undefined;
}

type Chunk = { type: string; [field: string]: unknown };

const formatChunk = (chunk: Chunk) => `data: ${JSON.stringify(chunk)}\n\n`;
/** How a turn ended, in the words that versions 6 and 7 of the AI SDK have. A cancelled one ends with `abort` alone. */
const FINISH_REASONS: Readonly<Record<Exclude<TurnStatus, "cancelled">, string>> = {
  done: "stop",
  waiting: "tool-calls",
  failed: "error",
};
const DONE = "data: [DONE]\n\n";
const HEARTBEAT = ": still here\n\n";

/** Returns a function from each event of a turn to the text of its chunks, and one for events that end without `end`. */
export function createUiStream({ turnId, agentId, baseUrl, language, canDecide, shown }: UiTurn) {
  let isStarted = false;
  let isStepOpen = false;
  let textId: string | undefined;
  let texts = 0;
  const shownText = createShownText(shown?.characters ?? 0);
  const callIds = createCallIds(turnId);
  /** The calls that the client has, and whether it has their results. */
  const calls = new Map(shown?.calls);
  const files = new Set<string>();
  /** Calls of this step that have not ended; and whether it has any. */
  let running = 0;
  let hasCalls = false;
  let cancelledFor: string | undefined;
  let out = "";

  const write = (chunk: Chunk) => {
    out += formatChunk(chunk);
  };
  function start(): void {
    if (isStarted) return;
    isStarted = true;
    write({ type: "start", messageId: turnId, messageMetadata: { turnId, agentId } });
  }
  function closeText(providerMetadata?: object): void {
    if (textId !== undefined) write({ type: "text-end", id: textId, ...(providerMetadata && { providerMetadata }) });
    textId = undefined;
  }
  function endText(): void {
    if (textId === undefined) return;
    writeText(shownText.close());
    closeText();
  }
  function endStep(): void {
    endText();
    if (!isStepOpen) return;
    write({ type: "finish-step" });
    isStepOpen = false;
  }
  /** A step is an answer of the model with the calls that it makes: what follows their results is the next one. */
  function openStep(): void {
    if (hasCalls && running === 0) endStep();
    if (isStepOpen) return;
    write({ type: "start-step" });
    isStepOpen = true;
    hasCalls = false;
  }
  /** Writes what the client has not. A text that the turn has taken back stays there, since version 6 can't remove it: it is marked. */
  function writeText({ text: given, isOther }: NewText): void {
    if (isOther) {
      closeText(NOTICE.cut);
      writeNotice(translateText("That was interrupted. I begin anew:", language), NOTICE.anew);
    }
    const text = textId === undefined && shownText.before() > 0 ? withoutGap(given) : given;
    if (text === "") return;
    openStep();
    if (textId === undefined) {
      textId = `text-${++texts}`;
      write({ type: "text-start", id: textId });
    }
    write({ type: "text-delta", id: textId, delta: text });
  }
  const addText = (given: string) => writeText(shownText.add(given));
  function writeNotice(words: string, providerMetadata: object): void {
    const id = `notice-${++texts}`;
    write({ type: "text-start", id, providerMetadata });
    write({ type: "text-delta", id, delta: words });
    write({ type: "text-end", id, providerMetadata });
  }
  function addTool({ id, parent, name, input, state, result }: Extract<TurnEvent, { kind: "tool" }>): void {
    const toolCallId = state === "called" ? callIds.begin(id, parent) : callIds.of(id);
    if (toolCallId === undefined) return;
    const has = calls.get(toolCallId);
    const facts = { toolCallId, dynamic: true, providerExecuted: true };
    if (state === "called") {
      if (has !== undefined) return;
      openStep();
      endText();
      if (parent === undefined) running++;
      hasCalls = true;
      calls.set(toolCallId, false);
      const maker = parent === undefined ? undefined : callIds.of(parent);
      const toolMetadata = maker === undefined ? {} : { toolMetadata: { parent: maker } };
      write({ type: "tool-input-available", ...facts, toolName: name, input: input ?? {}, ...toolMetadata });
      return;
    }
    if (has !== false) return;
    calls.set(toolCallId, true);
    if (parent === undefined) running = Math.max(0, running - 1);
    if (state === "done") write({ type: "tool-output-available", ...facts, output: outputOf(result) });
    else write({ type: "tool-output-error", ...facts, errorText: result });
  }
  function addFile({ url, type: mediaType, ...file }: SentFile): void {
    if (files.has(file.id)) return;
    files.add(file.id);
    endText();
    write({ type: "file", url: `${baseUrl}${url}`, mediaType, providerMetadata: { berth: { ...file } } });
  }
  /** The question itself for clients that show requests for approval, and in words for those that don't. */
  function addApproval({
    id,
    callId,
    tool,
    class: toolClass,
    summary,
  }: Extract<TurnEvent, { kind: "approval" }>): void {
    endText();
    const toolCallId = callIds.of(callId);
    if (canDecide && toolCallId !== undefined && calls.has(toolCallId)) {
      const approvalDescriptor = { tool, class: toolClass, summary };
      const reason = callWords(summary, language);
      write({ type: "tool-approval-request", approvalId: id, toolCallId, reason, approvalDescriptor });
    }
    writeNotice(waitingWords(summary, baseUrl, language, canDecide), NOTICE.approval);
  }
  function addDelay({ kind: _, ...data }: Extract<TurnEvent, { kind: "waiting" }>): void {
    write({ type: "data-waiting", data, transient: true });
  }
  /** What was not streamed: the reply of a turn that was over, or a note at its end. */
  function addReply({ text, files: sent }: Extract<TurnEvent, { kind: "reply" }>): void {
    addText(text.slice(shownText.said()));
    for (const file of sent) addFile(file);
  }
  function addError({ code, message }: Extract<TurnEvent, { kind: "error" }>): void {
    // Also what a turn that has begun anew had not come to again.
    closeText();
    endStep();
    if (code === "CANCELLED") cancelledFor = message;
    else write({ type: "error", errorText: message });
  }
  function repeat(): void {
    shownText.repeat();
    callIds.repeat();
  }
  function end(status: TurnStatus): void {
    endStep();
    if (status === "cancelled") write({ type: "abort", ...(cancelledFor !== undefined && { reason: cancelledFor }) });
    else write({ type: "finish", finishReason: FINISH_REASONS[status] });
    out += DONE;
  }

  function add(event: TurnEvent): void {
    if (event.kind === "heartbeat") out += HEARTBEAT;
    else start();
    if (event.kind === "text") addText(event.text);
    else if (event.kind === "tool") addTool(event);
    else if (event.kind === "file") addFile(event.file);
    else if (event.kind === "approval") addApproval(event);
    else if (event.kind === "waiting") addDelay(event);
    else if (event.kind === "reset") repeat();
    else if (event.kind === "reply") addReply(event);
    else if (event.kind === "error") addError(event);
    else if (event.kind === "end") end(event.status);
  }

  const taking = (work: () => void): string => {
    out = "";
    work();
    return out;
  };
  return {
    write: (event: TurnEvent): string => taking(() => add(event)),
    /** The turn goes on, but this stream can't. */
    breakOff: (message: string): string => taking(() => write({ type: "error", errorText: message })),
  };
}

/** A text that follows another one begins with line breaks, which stand for the border between their parts. */
const withoutGap = (text: string) => (text.startsWith(GAP) ? text.slice(GAP.length) : text);
