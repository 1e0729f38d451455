// Shows "is typing …" at the message that is answered. Slack removes it with an answer in that thread, or after two minutes.
// https://docs.slack.dev/reference/methods/assistant.threads.setStatus
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Binding } from "../../port.ts";
import { asBot } from "../bot.ts";
import { toChannelError } from "../errors.ts";
import type { Peer } from "../ids.ts";
import type { WebApi } from "../web-api.ts";

const STATUS = "is typing…";
const METHOD = "assistant.threads.setStatus";
const MAX_STATUSES = 1_024;
const CLEAR_TIMEOUT_MS = 10 * SECOND;

interface Deps {
  api: WebApi;
  onFailure(binding: Binding, reason: string): void;
}

export function createStatuses({ api, onFailure }: Deps) {
  /** The threads with a status, by bot and conversation. */
  const shown = createBoundedMap<string>(MAX_STATUSES);
  const keyOf = ({ bot }: Binding, peer: string) => `${bot.id} ${peer}`;

  return {
    async set(binding: Binding, peer: string, { channel, thread }: Required<Peer>, signal: AbortSignal): Promise<void> {
      shown.set(keyOf(binding, peer), thread);
      const body = { channel_id: channel, thread_ts: thread, status: STATUS };
      await api.call(asBot(binding), METHOD, body, signal);
    },

    /** After the answer: removes the status in the background if the answer stands elsewhere, as in direct messages. */
    clear(binding: Binding, peer: string, { channel, thread }: Peer): void {
      const key = keyOf(binding, peer);
      const at = shown.get(key);
      shown.delete(key);
      if (at === undefined || at === thread) return;
      api
        .call(
          asBot(binding),
          METHOD,
          { channel_id: channel, thread_ts: at, status: "" },
          AbortSignal.timeout(CLEAR_TIMEOUT_MS),
        )
        .catch((error: unknown) => onFailure(binding, toChannelError(error, "peer").message));
    },
  };
}
