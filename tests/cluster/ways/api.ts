// The API, whose client repeats a message under its key until it is accepted.
import { type Answer, createClient } from "../../support/client.ts";
import type { Cluster } from "../../support/cluster.ts";
import { itemOf, type Way, type WayOptions } from "./way.ts";

const CONVERSATIONS_OF_A_CELL = 2;

/** Through the load balancer, with the sign-ins of these accounts. */
export function openApi({ cluster, accounts, agents }: WayOptions): Way {
  const cells = [...accounts.keys()].flatMap((cell) => new Array<number>(CONVERSATIONS_OF_A_CELL).fill(cell));
  const conversations = cells.map((cell, chat) => {
    const agentId = agents.get(cell)?.[0];
    const cookie = accounts.get(cell)?.cookie;
    if (agentId === undefined || cookie === undefined) throw new Error(`Cell ${cell} has no agent.`);
    return openConversation(cluster, { agentId, cookie, name: `conversation ${chat}` });
  });
  return {
    name: "API",
    cells,
    isPlatform: false,
    says: async (chat, text) => itemOf(conversations, chat).says(text),
    look: async () => void (await Promise.all(conversations.map((one) => one.look()))),
    async replies() {
      const all = await Promise.all(conversations.map((one) => one.replies()));
      return all.flatMap((replies, chat) => replies.map((reply) => ({ chat, ...reply })));
    },
    stop: async () => void (await Promise.all(conversations.map((one) => one.stop()))),
  };
}

interface ConversationOptions {
  agentId: string;
  cookie: string;
  /** Makes the keys of its messages unique. */
  name: string;
}

interface Page {
  messages: { id: string; seq: number | null; role: string; text: string }[];
  before: number | null;
}

const TIMEOUT_MS = 12_000;
const REPEAT_MS = 200;
/** Of messages that wait when the load ends. */
const GIVEN_UP_MS = 90_000;
/** Nothing was done that the key would not find again: the cell is on its way, or the first request is still under way. */
const PASSING = [0, 502, 503];
const PASSING_CODES = ["TOO_MANY_WAITING", "IDEMPOTENCY_IN_PROGRESS"];

/** A conversation whose client sends one message after the other, each until it is accepted. */
function openConversation(cluster: Cluster, { agentId, cookie, name }: ConversationOptions) {
  const client = createClient(cluster);
  const path = `/api/agents/${agentId}/conversations`;
  const replies: { text: string; at: number; seq: number }[] = [];
  let conversationId: string | undefined;
  let sending = Promise.resolve();
  let failure: unknown;
  let accepted = 0;
  let isGivenUp = false;

  async function send(message: string): Promise<void> {
    const headers = { cookie, "idempotency-key": `${name}-${accepted}`.replaceAll(" ", "-") };
    const to = conversationId === undefined ? path : `${path}/${conversationId}/messages`;
    while (!isGivenUp) {
      const { status, text } = await ask(() =>
        client.post(to, { message }, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }),
      );
      if (status === 202) {
        conversationId = (JSON.parse(text) as { conversationId: string }).conversationId;
        accepted++;
        return;
      }
      await Bun.sleep(REPEAT_MS);
    }
  }

  const ask = async (send: () => Promise<Answer>): Promise<Pick<Answer, "status" | "text">> => {
    const { status, text } = await send().catch((error: unknown) => ({ status: 0, text: String(error) }));
    const isPassing = PASSING.includes(status) || PASSING_CODES.some((code) => text.includes(`"${code}"`));
    if (status >= 300 && !isPassing) throw new Error(`${name}: ${status} ${text}`);
    return { status, text };
  };

  /** Reads the replies that came since the last time, unless the cell is on its way. */
  async function read(): Promise<void> {
    const known = replies.at(-1)?.seq ?? 0;
    const found: typeof replies = [];
    // By this clock: those of machines are set.
    const at = Date.now();
    let before: number | null | undefined;
    do {
      const page = `${path}/${conversationId}/messages?limit=100${before === undefined ? "" : `&before=${before}`}`;
      const { status, text } = await ask(() =>
        client.get(page, { headers: { cookie }, signal: AbortSignal.timeout(TIMEOUT_MS) }),
      );
      if (status !== 200) return;
      const body = JSON.parse(text) as Page;
      for (const { role, seq, text } of body.messages)
        if (role === "assistant" && seq !== null && seq > known) found.push({ text, at, seq });
      before = body.before;
    } while (before !== null && before > known);
    replies.push(...found.toSorted((one, other) => one.seq - other.seq));
  }

  /** One at a time. */
  let reading = Promise.resolve();
  function look(): Promise<void> {
    reading = reading
      .then(() => (conversationId === undefined ? undefined : read()))
      .catch((error: unknown) => {
        failure ??= error;
      });
    return reading;
  }

  return {
    look,
    says(text: string): void {
      sending = sending
        .then(() => send(text))
        .catch((error: unknown) => {
          failure ??= error;
        });
    },
    async replies() {
      await look();
      if (failure !== undefined) throw failure;
      return replies;
    },
    async stop(): Promise<void> {
      const timer = setTimeout(() => {
        isGivenUp = true;
      }, GIVEN_UP_MS);
      await sending;
      clearTimeout(timer);
      if (isGivenUp) throw new Error(`${name}: a message was not accepted within ${GIVEN_UP_MS} ms.`);
    },
  };
}
