// Compacts the history of a session that has become too long: the model summarizes the older messages.
import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { toStorableText } from "../../../src/kernel/util/text/storable-text.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Reservation } from "../../ai/index.ts";
import { EXTRACT_FACTS, highestTaint, splitFacts, TAINT } from "../../skills/index.ts";
import { EXTRACT, type KeepFacts, withoutOutside } from "../sessions/fact-extraction.ts";
import { type History, type HistoryMessage, MAX_HISTORY } from "../sessions/history.ts";
import type { Sessions } from "../sessions/sessions.ts";
import { omittedNote, textMessage } from "./prompt.ts";
import { CHARACTERS_PER_TOKEN, tokenUsage } from "./token-usage.ts";

/** The share of a model's context window for history; the rest is for instructions, tools and the reply. */
const HISTORY_SHARE = 0.5;
/** The context window, in tokens, of a model whose window is unknown. */
const DEFAULT_WINDOW = 16_000;
/** A session with so many recent messages is compacted, before the oldest of them falls out of the history. */
const COMPACT_AT = MAX_HISTORY - 20;
/** Messages that are not summarized. */
const KEEP_MESSAGES = 12;
/** Characters of a summary. */
const MAX_SUMMARY = 8_000;

const SUMMARY_TIMEOUT = 30 * SECOND;
const SUMMARIZE =
  "Sum up this conversation for yourself, in at most 300 words: facts about the user, decisions, promises, open questions. Only the summary.";

const characterCount = (recent: readonly HistoryMessage[]) =>
  recent.reduce((sum, { content }) => sum + content.length, 0);

export interface HistoryOptions {
  /** Tokens of the model's context window; undefined when it is unknown. */
  contextWindow: number | undefined;
  /** Undefined for a model that can't summarize, such as the demo model. */
  summarizer: Summarizer | undefined;
  /** Where the facts of the older messages go, if they are kept. Called only for a summary. */
  keepFacts?(): Promise<KeepFacts | undefined>;
  signal: AbortSignal;
}

interface Summarizer {
  language: LanguageModelV4;
  /** Reserves the most that the call may cost. */
  reserve(prompt: LanguageModelV4Prompt): Reservation | Promise<Reservation>;
}

/**
 * The history of a session, within the model's context window. If it is too long, the model summarizes the older messages
 * once, and the summary is stored in their place. If that fails, this turn leaves them out and the prompt says how many.
 */
export async function loadCompactedHistory(
  sessions: Sessions,
  sessionId: string,
  { contextWindow = DEFAULT_WINDOW, summarizer, keepFacts, signal }: HistoryOptions,
): Promise<History> {
  const history = await sessions.history(sessionId);
  const maxCharacters = contextWindow * HISTORY_SHARE * CHARACTERS_PER_TOKEN;
  const { recent } = history;
  if (recent.length < COMPACT_AT && characterCount(recent) <= maxCharacters) return history;

  let keep = Math.min(KEEP_MESSAGES, recent.length);
  while (keep > 0 && characterCount(recent.slice(-keep)) > maxCharacters) keep--;
  // The messages that are kept begin with one of the user.
  if (keep > 0 && recent.at(-keep)?.role === "assistant") keep--;
  const older = recent.slice(0, recent.length - keep);
  const last = older.at(-1);
  if (!last) return history;
  const recentKept = recent.slice(recent.length - keep);
  const keepFound = summarizer && (await keepFacts?.());
  const summaryTaint = highestTaint([history.summaryTaint, ...older.map(({ taint }) => taint)]);
  // Facts come from text without anything from outside: of other conversations by a call of their own.
  const own = summaryTaint === TAINT.outside ? withoutOutside(older) : older;
  const inOneCall = keepFound && summaryTaint !== TAINT.outside;
  const request = { system: inOneCall ? `${SUMMARIZE}\n${EXTRACT_FACTS}` : SUMMARIZE, maxCharacters };
  const answer = summarizer && (await summarize(summarizer, history, older, request, signal));
  const { summary, facts } = answer === undefined ? { summary: undefined, facts: [] } : splitFacts(answer);
  if (summary === undefined) return { ...history, omitted: history.omitted + older.length, recent: recentKept };
  await sessions.saveSummary(sessionId, summary, last.seq, summaryTaint);
  if (inOneCall) await keepFound(facts, summaryTaint);
  else if (keepFound && own.length > 0) {
    const alone = { ...history, summary: null, omitted: 0 };
    const found = await summarize(summarizer, alone, own, { system: EXTRACT, maxCharacters }, signal);
    if (found !== undefined) await keepFound(splitFacts(found).facts, highestTaint(own.map(({ taint }) => taint)));
  }
  return { summary, summaryTaint, omitted: 0, recent: recentKept };
}

/** Undefined when the call failed: the turn goes on without a summary. Rejects only when the turn was aborted. */
async function summarize(
  { language, reserve }: Summarizer,
  history: History,
  older: readonly HistoryMessage[],
  { system, maxCharacters }: { system: string; maxCharacters: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const transcript = older.map(({ role, content }) => `${role}: ${content}`).join("\n");
  const before = history.summary === null ? "" : `Summary so far:\n${history.summary}\n\n`;
  const cut = transcript.length > maxCharacters ? "[The beginning is missing.]\n" : omittedNote(history.omitted);
  const prompt: LanguageModelV4Prompt = [
    { role: "system", content: system },
    textMessage("user", `${before}${cut}${transcript.slice(-maxCharacters)}`),
  ];
  const call = new AbortController();
  const abortCall = () => call.abort();
  signal.addEventListener("abort", abortCall, { once: true });
  const timer = setTimeout(abortCall, SUMMARY_TIMEOUT);
  let spending: Reservation | undefined;
  let started = 0;
  const elapsedMs = () => Math.round(performance.now() - started);
  try {
    spending = await reserve(prompt);
    started = performance.now();
    const { content, usage } = await language.doGenerate({ prompt, maxOutputTokens: 1_400, abortSignal: call.signal });
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    await spending.record(tokenUsage({ usage, text, calls: [] }, prompt), elapsedMs());
    return text.trim() === "" ? undefined : toStorableText(text.slice(0, MAX_SUMMARY));
  } catch {
    // A turn must not fail for lack of a summary; the prompt says how many messages are missing.
    // A call that was aborted while the model worked on it is charged.
    if (call.signal.aborted)
      await spending?.record(tokenUsage({ usage: undefined, text: "", calls: [] }, prompt), elapsedMs());
    else spending?.release();
    signal.throwIfAborted();
    return undefined;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abortCall);
  }
}
