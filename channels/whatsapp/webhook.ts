// One request of Meta: a question that proves our address, or a post, whose sender is settled before it is understood.
import { timingSafeEqual } from "node:crypto";
import { type Binding, ChannelError, type DeliveryFailure, type Sink } from "../port.ts";
import type { Account, Accounts } from "./accounts.ts";
import { readLimitedBody } from "./limited-body.ts";
import type { PartOutcomes } from "./part-outcomes.ts";
import { MAX_UPDATES, type MessageStatus, readEvent, type WebhookEvent } from "./webhook-events.ts";

const SIGNATURE_HEADER = "x-hub-signature-256";
/** "Payloads can be up to 3 MB": https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Bytes that a post of one message or status does not exceed, as a rule. */
const TYPICAL_POST_BYTES = 4096;

/** The operator's own app: what is posted for tokens it minted is signed with its secret. */
export interface MetaApp {
  id: string;
  secret: string;
}

export interface WhatsAppWebhook {
  receive(binding: Binding, secret: string, request: Request, sink: Sink): Promise<Response>;
}

interface Deps {
  accounts: Accounts;
  outcomes: PartOutcomes;
  app: MetaApp | undefined;
  onFailure(binding: Binding, error: unknown): void;
}

export function createWhatsAppWebhook({ accounts, outcomes, app, onFailure }: Deps): WhatsAppWebhook {
  /** 200 stored (or nothing for the agent), 401 not from Meta, 400 no event, 413 too large, 503 could not be stored. */
  async function receivePost(binding: Binding, request: Request, sink: Sink): Promise<Response> {
    const account = await accounts.load(binding).catch((error: unknown) => unavailable(binding, error));
    if (account instanceof Response) return account;
    const isOurs = app !== undefined && account.app === app.id;
    const signature = request.headers.get(SIGNATURE_HEADER) ?? "";
    // Another app's secret is not known here: then the address, which only that app was told, says who it is.
    if (isOurs && !/^sha256=[0-9a-f]{64}$/.test(signature)) return unauthorized();
    const body = await readLimitedBody(request, MAX_BODY_BYTES);
    if (body === undefined) return errorResponse(413, "BODY_TOO_LARGE", "The body is larger than 3 MiB.");
    if (isOurs && !isEqualSecret(signature, `sha256=${hmac(app.secret, body)}`)) return unauthorized();
    const event = readEvent(parse(body), binding.bot.id, binding.token);
    if (!isOurs)
      sink.countUnsignedPosts?.(Math.max(1, event?.updates ?? 0, Math.ceil(body.byteLength / TYPICAL_POST_BYTES)));
    if (!event) return errorResponse(400, "INVALID_INPUT", "This is not an event of the WhatsApp Cloud API.");
    if (event.updates > MAX_UPDATES) {
      return errorResponse(413, "BODY_TOO_LARGE", `More than ${MAX_UPDATES} messages and statuses in one post.`);
    }
    const foreignNumbers = await findForeignNumbers(binding, account, event).catch((error: unknown) =>
      unavailable(binding, error),
    );
    if (foreignNumbers instanceof Response) return foreignNumbers;
    const statuses = event.statuses.filter(({ number }) => !foreignNumbers.has(number));
    recordOutcomes(binding, statuses);
    const messages = event.messages
      .filter(({ number }) => !foreignNumbers.has(number))
      .map(({ number: _, ...message }) => message);
    try {
      if (messages.length > 0) await sink.accept(messages);
      if (!(await areDeliveriesRecorded(statuses, sink)))
        return errorResponse(503, "UNAVAILABLE", "This is not written yet. Send it again.");
      const failures = failuresOf(statuses);
      if (failures.length > 0) await sink.reportUndelivered(failures);
    } catch (error) {
      return unavailable(binding, error);
    }
    sink.reportAlive();
    return new Response(null, { status: 200 });
  }

  /** Numbers that are not this account's, whatever the post says. */
  async function findForeignNumbers(binding: Binding, { numbers }: Account, event: WebhookEvent): Promise<Set<string>> {
    const foreignNumbers = new Set<string>();
    for (const number of event.numbers) {
      if (!numbers.includes(number) && !(await accounts.ownsNumber(binding, number))) foreignNumbers.add(number);
    }
    return foreignNumbers;
  }

  function recordOutcomes({ bot }: Binding, statuses: MessageStatus[]): void {
    for (const { id, part, failure } of statuses) {
      if (!part) continue;
      const outcome =
        failure === undefined ? ({ kind: "sent", id } as const) : ({ kind: "failed", reason: failure } as const);
      outcomes.set(bot.id, part.callbackData, outcome);
    }
  }

  /** A status is what tells, after a kill, that a reply was sent: it is taken only when that is written. */
  async function areDeliveriesRecorded(statuses: MessageStatus[], sink: Sink): Promise<boolean> {
    const messages = new Set(statuses.flatMap(({ part }) => (part ? [part.message] : [])));
    return messages.size === 0 || (await sink.areDeliveriesRecorded?.([...messages])) !== false;
  }

  /** Of replies alone, which say what they are: who else failed to be reached is nothing that the agent said. */
  const failuresOf = (statuses: MessageStatus[]): DeliveryFailure[] =>
    statuses.flatMap(({ id, part, peer, failure }) =>
      part && failure !== undefined ? [{ message: part.message, peer, part: id, reason: failure }] : [],
    );

  function unavailable(binding: Binding, error: unknown): Response {
    if (!(error instanceof ChannelError)) onFailure(binding, error);
    return errorResponse(503, "UNAVAILABLE", "The message could not be stored. Send it again.");
  }

  return {
    async receive(binding, secret, request, sink) {
      if (request.method !== "GET") return await receivePost(binding, request, sink);
      const query = new URL(request.url).searchParams;
      const challenge = query.get("hub.challenge") ?? "";
      const isMeta =
        query.get("hub.mode") === "subscribe" && isEqualSecret(query.get("hub.verify_token") ?? "", secret);
      if (!isMeta || !/^[\w-]{1,256}$/.test(challenge)) return unauthorized();
      sink.reportAlive();
      return new Response(challenge, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  };
}

const errorResponse = (status: number, code: string, message: string) =>
  Response.json({ error: message, message, code }, { status });
const unauthorized = () => errorResponse(401, "UNAUTHORIZED", "The signature or token is missing or wrong.");

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
const hmac = (secret: string, body: Uint8Array) => new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");

/** In a time that depends on neither value, their lengths included. No secret is like none. */
const isEqualSecret = (given: string, secret: string) =>
  secret !== "" && timingSafeEqual(sha256(given), sha256(secret));

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
