// Finds a part of a reply that an earlier try has sent although its answer was lost. Slack recognises no repeated call, but
// keeps data of the app with each message, and shows it in the conversation's history.
// https://docs.slack.dev/messaging/message-metadata
import { DAY } from "../../../src/kernel/util/time.ts";
import type { Binding, OutgoingFile, OutgoingMessage } from "../../port.ts";
import { isObject } from "../../shared/is-object.ts";
import { asBot, detailOf } from "../bot.ts";
import { SlackRefusal } from "../errors.ts";
import { isTimestamp, messageId, type Peer, timestampAt, timestampOf } from "../ids.ts";
import type { WebApi } from "../web-api.ts";

const EVENT_TYPE = "berth_reply";
/** Messages that are looked through, at most. */
const PAGE_SIZE = 200;

/** The data of a part. Others can't guess the key, because it begins with a random UUID. */
export const metadataOf = (key: string) => ({ event_type: EVENT_TYPE, event_payload: { key } });

export const partKey = ({ id }: Pick<OutgoingMessage, "id">, index: number) => `${id}:${index}`;

export interface EarlierParts {
  /** The platform's id of the message with this key. */
  ofText(key: string): string | undefined;
  /** That of a message with this file, and with none of those that are known. */
  ofFile(file: Pick<OutgoingFile, "name" | "size">, known: readonly string[]): string | undefined;
}

/** Looks once through the messages after the answered one; finds nothing if the bot may not read them. */
export async function findEarlierParts(
  api: WebApi,
  binding: Binding,
  { channel, thread }: Peer,
  { replyTo }: Pick<OutgoingMessage, "replyTo">,
  signal: AbortSignal,
): Promise<EarlierParts> {
  const oldest = timestampOf(replyTo, channel) ?? timestampAt(Date.now() - DAY);
  const common = { channel, oldest, limit: PAGE_SIZE, include_all_metadata: true };
  const [method, args] =
    thread === undefined
      ? (["conversations.history", common] as const)
      : (["conversations.replies", { ...common, ts: thread }] as const);
  const { messages } = await api.call(asBot(binding), method, args, signal).catch((error: unknown) => {
    if (error instanceof SlackRefusal && error.code !== "service_unavailable") return { messages: [] };
    throw error;
  });
  const { user } = detailOf(binding.bot);
  const own = (Array.isArray(messages) ? messages.filter(isObject) : []).filter((message) => message.user === user);
  return {
    ofText(key) {
      const found = own.find(({ metadata }) => isObject(metadata) && keyOf(metadata) === key);
      return found && isTimestamp(found.ts) ? messageId(channel, found.ts) : undefined;
    },
    ofFile({ name, size }, known) {
      const files = own.flatMap((message) => (Array.isArray(message.files) ? message.files.filter(isObject) : []));
      const ids = files
        .filter((one) => one.name === name && one.size === size)
        .map(({ id }) => fileId(channel, String(id)));
      return ids.find((id) => !known.includes(id));
    },
  };
}

/** The id of a part that is a file. */
export const fileId = (channel: string, file: string) => `${channel}:${file}`;

const keyOf = ({ event_type: type, event_payload: payload }: Record<string, unknown>) =>
  type === EVENT_TYPE && isObject(payload) ? payload.key : undefined;
