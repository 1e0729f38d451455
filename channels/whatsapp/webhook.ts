// One request of Meta: a question that proves our address, or a post, whose sender is settled before it is understood.
import { timingSafeEqual } from "node:crypto";
import { type Binding, ChannelError, type Sink, type Undelivered } from "../channel.ts";
import type { Account, Accounts } from "./account.ts";
import { readUpTo } from "./bytes.ts";
import type { Fates } from "./fates.ts";
import { type Event, MOST_UPDATES, readEvent, type Status } from "./read.ts";

const SIGNATURE_HEADER = "x-hub-signature-256";
/** "Payloads can be up to 3 MB": https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview */
const LARGEST_BODY = 3 * 1024 * 1024;
/** Bytes that a post of one message or status does not exceed, as a rule. */
const ORDINARY = 4096;

/** The operator's own app: what is posted for tokens it minted is signed with its secret. */
export interface App {
  id: string;
  secret: string;
}

export interface Receiving {
  receive(binding: Binding, secret: string, request: Request, sink: Sink): Promise<Response>;
}

interface Deps {
  accounts: Accounts;
  fates: Fates;
  app: App | undefined;
  failed(binding: Binding, error: unknown): void;
}

export function createReceiving({ accounts, fates, app, failed }: Deps): Receiving {
  /** 200 stored (or nothing for the agent), 401 not from Meta, 400 no event, 413 too large, 503 could not be stored. */
  async function take(binding: Binding, request: Request, sink: Sink): Promise<Response> {
    const account = await accounts.of(binding).catch((error: unknown) => notYet(binding, error));
    if (account instanceof Response) return account;
    const isOurs = app !== undefined && account.app === app.id;
    const signature = request.headers.get(SIGNATURE_HEADER) ?? "";
    // Another app's secret is not known here: then the address, which only that app was told, says who it is.
    if (isOurs && !/^sha256=[0-9a-f]{64}$/.test(signature)) return unsigned();
    const body = await readUpTo(request, LARGEST_BODY);
    if (body === undefined) return refuse(413, "BODY_TOO_LARGE", "The body is larger than 3 MiB.");
    if (isOurs && !isSame(signature, `sha256=${hmac(app.secret, body)}`)) return unsigned();
    const event = readEvent(parse(body), binding.bot.id, binding.token);
    if (!isOurs) sink.unproven?.(Math.max(1, event?.updates ?? 0, Math.ceil(body.byteLength / ORDINARY)));
    if (!event) return refuse(400, "INVALID_INPUT", "This is not an event of the WhatsApp Cloud API.");
    if (event.updates > MOST_UPDATES) {
      return refuse(413, "BODY_TOO_LARGE", `More than ${MOST_UPDATES} messages and statuses in one post.`);
    }
    const strange = await strangeNumbers(binding, account, event).catch((error: unknown) => notYet(binding, error));
    if (strange instanceof Response) return strange;
    const statuses = event.statuses.filter(({ number }) => !strange.has(number));
    noteFates(binding, statuses);
    const messages = event.messages
      .filter(({ number }) => !strange.has(number))
      .map(({ number: _, ...message }) => message);
    try {
      if (messages.length > 0) await sink.accept(messages);
      if (!(await areSettled(statuses, sink)))
        return refuse(503, "UNAVAILABLE", "This is not written yet. Send it again.");
      const failures = failuresOf(statuses);
      if (failures.length > 0) await sink.undelivered(failures);
    } catch (error) {
      return notYet(binding, error);
    }
    sink.alive();
    return new Response(null, { status: 200 });
  }

  /** Numbers that are not this account's, whatever the post says. */
  async function strangeNumbers(binding: Binding, { numbers }: Account, event: Event): Promise<Set<string>> {
    const strange = new Set<string>();
    for (const number of event.numbers) {
      if (!numbers.includes(number) && !(await accounts.has(binding, number))) strange.add(number);
    }
    return strange;
  }

  function noteFates({ bot }: Binding, statuses: Status[]): void {
    for (const { id, part, failure } of statuses) {
      if (!part) continue;
      const fate =
        failure === undefined ? ({ kind: "sent", id } as const) : ({ kind: "failed", reason: failure } as const);
      fates.set(bot.id, part.callbackData, fate);
    }
  }

  /** A status is what tells, after a kill, that a reply was sent: it is taken only when that is written. */
  async function areSettled(statuses: Status[], sink: Sink): Promise<boolean> {
    const messages = new Set(statuses.flatMap(({ part }) => (part ? [part.message] : [])));
    return messages.size === 0 || (await sink.settled?.([...messages])) !== false;
  }

  /** Of replies alone, which say what they are: who else failed to be reached is nothing that the agent said. */
  const failuresOf = (statuses: Status[]): Undelivered[] =>
    statuses.flatMap(({ id, part, peer, failure }) =>
      part && failure !== undefined ? [{ message: part.message, peer, part: id, reason: failure }] : [],
    );

  function notYet(binding: Binding, error: unknown): Response {
    if (!(error instanceof ChannelError)) failed(binding, error);
    return refuse(503, "UNAVAILABLE", "The message could not be stored. Send it again.");
  }

  return {
    async receive(binding, secret, request, sink) {
      if (request.method !== "GET") return await take(binding, request, sink);
      const asked = new URL(request.url).searchParams;
      const challenge = asked.get("hub.challenge") ?? "";
      const isMeta = asked.get("hub.mode") === "subscribe" && isSame(asked.get("hub.verify_token") ?? "", secret);
      if (!isMeta || !/^[\w-]{1,256}$/.test(challenge)) return unsigned();
      sink.alive();
      return new Response(challenge, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  };
}

const refuse = (status: number, code: string, message: string) =>
  Response.json({ error: message, message, code }, { status });
const unsigned = () => refuse(401, "UNAUTHORIZED", "The signature or token is missing or wrong.");

const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
const hmac = (secret: string, body: Uint8Array) => new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");

/** In a time that depends on neither value, their lengths included. No secret is like none. */
const isSame = (given: string, secret: string) => secret !== "" && timingSafeEqual(digest(given), digest(secret));

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
