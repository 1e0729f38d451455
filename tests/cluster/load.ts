// The load of a fault run: messages to agents, reads through the load balancer, and new accounts. Each remembers what came of it.
import { type Client, createClient } from "../support/client.ts";
import type { Cluster } from "../support/cluster.ts";
import type { Way } from "./ways/way.ts";
import { FIRST_NAME, type World } from "./world.ts";

/** Milliseconds between two messages, and between two reads. */
const PACE_MS = 40;
const READ_PACE_MS = 150;
/** Milliseconds between two looks for replies that are not sent. */
const LOOK_PACE_MS = 500;
/** A machine that is stopped answers nothing; a client gives up after this time. */
const READ_TIMEOUT_MS = 12_000;

/** Texts are unique and the provider echoes them, so a reply identifies its message. */
export const textOf = (chat: number, n: number) => `message ${n} of chat ${chat}`;
/** Of the model, which echoes what it is told. */
export const replyTo = (text: string) => `echo: ${text}`;
export const isReply = (text: string) => /^echo: message \d+ of chat \d+$/.test(text);
/** The chat of a message; undefined if the text is none. */
export function chatOf(text: string): number | undefined {
  const [, chat] = /^message \d+ of chat (\d+)$/.exec(text) ?? [];
  return chat === undefined ? undefined : Number(chat);
}
export const isText = (text: string) => chatOf(text) !== undefined;

/** A chat of one of the ways. */
export interface Chat {
  way: Way;
  /** Its number among the chats of its way. */
  number: number;
  cell: number;
}

/** The chats of all ways; their places in this list are in the messages' texts. */
export const chatsOf = (ways: readonly Way[]): Chat[] =>
  ways.flatMap((way) => way.cells.map((cell, number) => ({ way, number, cell })));

export type Messages = ReturnType<typeof startMessages>;

/** Sends messages of all chats in turn, until it is stopped. */
export function startMessages(ways: readonly Way[]) {
  const chats = chatsOf(ways);
  /** Epoch ms of each message, by chat. */
  const sentAt: number[][] = chats.map(() => []);
  let isOver = false;
  let total = 0;
  const running = (async () => {
    while (!isOver) {
      for (const [place, { way, number }] of chats.entries()) {
        if (isOver) break;
        const sent = sentAt[place];
        sent?.push(Date.now());
        await way.says(number, textOf(place, (sent?.length ?? 0) - 1));
        total++;
        await Bun.sleep(PACE_MS);
      }
    }
  })();
  const looking = (async () => {
    while (!isOver) {
      await Promise.all(ways.map((way) => way.look?.()));
      await Bun.sleep(LOOK_PACE_MS);
    }
  })();
  return {
    sentAt,
    total: () => total,
    /** Resolves once all were accepted. */
    async stop() {
      isOver = true;
      await Promise.all([running, looking]);
      await Promise.all(ways.map((way) => way.stop?.()));
    },
  };
}

/** What a client may be told while a cell is on its way; everything else is a mistake. */
const EXPECTED = [200, 502, 503];

/** Reads before the name is written again. */
const READS_OF_A_NAME = 10;

/**
 * Reads the agents of an account in each cell through the load balancer, again and again, and renames one of them now and then: a
 * read finds all agents, with the last name that was acknowledged, or one whose write was not answered.
 */
export function startReads({ accounts, agents }: World) {
  const statuses: Record<string, number> = {};
  const wrong: string[] = [];
  let isOver = false;
  const running = [...accounts].map(async ([cell, account]) => {
    const made = agents.get(cell) ?? [];
    let name = FIRST_NAME;
    /** Late writes may come at any time. */
    const unanswered = new Set<string>();
    const ask = async (send: Send) => {
      const seen = await send({ signal: AbortSignal.timeout(READ_TIMEOUT_MS) }).catch(noAnswer);
      statuses[seen.status] = (statuses[seen.status] ?? 0) + 1;
      if (seen.status !== 0 && !EXPECTED.includes(seen.status)) wrong.push(`cell ${cell}: ${seen.status} ${seen.text}`);
      return seen;
    };
    for (let n = 1; !isOver; n++) {
      if (n % READS_OF_A_NAME === 0) {
        const next = `Name ${n}`;
        const { status } = await ask((options) => account.patch(`/api/agents/${made[0]}`, { name: next }, options));
        if (status === 200) name = next;
        else unanswered.add(next);
      }
      const { status, text } = await ask((options) => account.get("/api/agents", options));
      if (status === 200) {
        const listed = (JSON.parse(text) as { agents: { id: string; name: string }[] }).agents;
        const missing = made.filter((id) => !listed.some((agent) => agent.id === id));
        if (missing.length > 0) wrong.push(`cell ${cell}: the agents ${missing.join(", ")} are missing`);
        const found = listed.find(({ id }) => id === made[0])?.name ?? "";
        if (found !== name && !unanswered.has(found))
          wrong.push(`cell ${cell}: the name "${found}" was read, after "${name}" was written`);
      }
      await Bun.sleep(READ_PACE_MS);
    }
  });
  return {
    /** How often each status came; 0: no answer in time. */
    statuses,
    /** Answers that a client must never get, whatever happens to machines. */
    wrong,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

interface Seen {
  status: number;
  text: string;
}
type Send = (options: { signal: AbortSignal }) => Promise<Seen>;
const noAnswer = (error: unknown): Seen => ({ status: 0, text: String(error) });

/** Every machine answers for every cell. */
export async function allAnswer({ cluster, accounts }: World): Promise<boolean> {
  for (const { web } of cluster.nodes) {
    for (const { cookie } of accounts.values()) {
      const { status } = await createClient(web).get("/api/agents", {
        headers: { cookie },
        signal: AbortSignal.timeout(5_000),
      });
      if (status !== 200) return false;
    }
  }
  return true;
}

export interface SignUps {
  /** Those that the service has acknowledged. */
  made: Client[];
  /** Addresses of those that failed: whether they were made is not known. */
  unknown: string[];
}

/** Signs up one after the other until the result is called. */
export function startSignUps(cluster: Cluster, { made, unknown }: SignUps): () => Promise<void> {
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const client = createClient(cluster);
      try {
        await client.signUp();
        made.push(client);
      } catch (error) {
        const isRefused = /sign-up: 4\d\d/.test(String(error));
        if (isRefused) throw error;
        unknown.push(client.account.email);
      }
      await Bun.sleep(READ_PACE_MS);
    }
  })();
  running.catch(() => undefined);
  return async () => {
    isOver = true;
    await running;
  };
}
