// Makes settled entries of the inbox for imported messages, since the list of an agent's messages is read from the inbox.

/** What is needed of a row of a message. */
interface ImportedMessage {
  session: string;
  platform: string;
  role: "user" | "assistant";
  content: string;
  at: number;
}

/** A row of the inbox. Times are epoch ms. */
interface ImportedEntry {
  id: string;
  session: string;
  platform: string;
  /** `reminder` for a reply to no message: only the reply is listed. */
  kind: "message" | "reminder";
  content: string;
  at: number;
}

/**
 * Adds an entry for each message of a person, together with the reply that follows in its session, and for each other
 * reply. Returns the messages with the ids of their entries.
 * @param messages in the order in which they are to be listed
 */
export function addEntries<Message extends ImportedMessage>(
  messages: readonly Message[],
): { messages: (Message & { inbox: string })[]; entries: ImportedEntry[] } {
  const newId = createOrderedIds(Date.now());
  const entries: ImportedEntry[] = [];
  const unanswered = new Map<string, string>();
  const linked = messages.map((message) => {
    const { session, platform, role, content, at } = message;
    const isPerson = role === "user";
    const answered = isPerson ? undefined : unanswered.get(session);
    const inbox = answered ?? newId(at);
    if (isPerson) unanswered.set(session, inbox);
    else unanswered.delete(session);
    if (answered === undefined) {
      const kind = isPerson ? "message" : "reminder";
      entries.push({ id: inbox, session, platform, kind, content: isPerson ? content : "", at });
    }
    return { ...message, inbox };
  });
  return { messages: linked, entries };
}

const IDS_PER_MS = 0x1000;

/**
 * Makes UUIDv7 (RFC 9562 §5.7) with the time of each message that sort in the order in which they are made, and before
 * those that are made after `now`. Times that go back, or are in the future, are replaced.
 */
function createOrderedIds(now: number): (at: number) => string {
  let [last, counter] = [0, 0];
  return (at) => {
    const ms = Math.max(last, Math.min(at, now));
    counter = ms === last ? counter + 1 : 0;
    last = ms;
    if (counter === IDS_PER_MS) [last, counter] = [ms + 1, 0];
    const time = last.toString(16).padStart(12, "0");
    const sequence = counter.toString(16).padStart(3, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${crypto.randomUUID().slice(19)}`;
  };
}
