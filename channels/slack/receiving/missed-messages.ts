// Fetches the messages of the latest conversations that came while no connection was open.
import { DAY } from "../../../src/kernel/util/time.ts";
import type { Binding } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import { asBot } from "../bot.ts";
import { hasCode, SlackRefusal } from "../errors.ts";
import { parsePeer, timestampAt } from "../ids.ts";
import type { WebApi } from "../web-api.ts";
import { type SlackMessage, toMessage } from "./messages.ts";
import type { RecentConversation } from "./resume-state.ts";

/** The age up to which missed messages are fetched; Telegram keeps updates as long. */
const LOOKBACK_MS = DAY;
const PAGE_SIZE = 200;
const MAX_PAGES = 5;

/** The messages of people since the last known ones, the oldest first; a conversation that the bot has left has none. */
export async function fetchMissed(
  api: WebApi,
  binding: Binding,
  conversations: readonly RecentConversation[],
  signal: AbortSignal,
): Promise<SlackMessage[]> {
  const earliest = timestampAt(Date.now() - LOOKBACK_MS);
  const found: SlackMessage[] = [];
  for (const [peer, last] of conversations) {
    // What is older than a day is answered by nobody any more.
    if (Number(last) < Number(earliest)) continue;
    found.push(...(await fetchSince(api, binding, peer, last, signal)));
  }
  return found.sort((a, b) => Number(a.ts) - Number(b.ts));
}

async function fetchSince(api: WebApi, binding: Binding, peer: string, oldest: string, signal: AbortSignal) {
  const { channel, thread } = parsePeer(peer);
  const [method, args] =
    thread === undefined
      ? (["conversations.history", { channel, oldest, limit: PAGE_SIZE }] as const)
      : (["conversations.replies", { channel, ts: thread, oldest, limit: PAGE_SIZE }] as const);
  const found: SlackMessage[] = [];
  let cursor: string | undefined;
  try {
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await api.call(asBot(binding), method, { ...args, cursor }, signal);
      const messages = Array.isArray(answer.messages) ? answer.messages : [];
      // A page of a thread begins with the message that it hangs on.
      found.push(
        ...messages.flatMap((one) => toMessage(one, channel) ?? []).filter(({ ts }) => Number(ts) > Number(oldest)),
      );
      const { next_cursor: next } = isObject(answer.response_metadata) ? answer.response_metadata : {};
      if (answer.has_more !== true || typeof next !== "string" || next === "") break;
      cursor = next;
    }
  } catch (error) {
    if (!(error instanceof SlackRefusal) || hasCode(error, "service_unavailable", "internal_error")) throw error;
  }
  return found;
}
