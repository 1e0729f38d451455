// Handles the requests of Meta: a GET that verifies the address, and posts, whose sender is checked before they are
// parsed.

import { readRequestBody } from "../../src/kernel/util/limited-body.ts";
import { type Binding, ChannelError, type DeliveryFailure, type Sink } from "../port.ts";
import { errorResponse, isEqualSecret } from "../shared/webhook-answers.ts";
import type { Account, Accounts } from "./accounts.ts";
import { findChallenge } from "./challenge.ts";
import type { PartOutcomes } from "./part-outcomes.ts";
import { MAX_UPDATES, type MessageStatus, readEvent, type WebhookEvent } from "./webhook-events.ts";

const SIGNATURE_HEADER = "x-hub-signature-256";
/**
 * "Payloads can be up to 3 MB":
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview
 */
const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** Bytes that a post of one message or status usually does not exceed. */
const TYPICAL_POST_BYTES = 4096;

/** The operator's app: posts for tokens that it made are signed with its secret. */
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
  /**
   * Answers 200 once everything is stored or if nothing is for the agent, 401 if it is not from Meta, 400 for a malformed
   * event, 413 for a large one, 503 if storing failed; throws 408 for a slow body.
   */
  async function receivePost(binding: Binding, request: Request, sink: Sink): Promise<Response> {
    const account = await accounts.load(binding).catch((error: unknown) => unavailable(binding, error));
    if (account instanceof Response) return account;
    const isOurs = app !== undefined && account.app === app.id;
    const signature = request.headers.get(SIGNATURE_HEADER) ?? "";
    // The secret of another app is unknown here: then the address, which only that app knows, proves the sender.
    if (isOurs && !/^sha256=[0-9a-f]{64}$/.test(signature)) return unauthorized();
    const body = await readRequestBody(request, MAX_BODY_BYTES);
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
        return errorResponse(503, "UNAVAILABLE", "This is not stored yet. Send it again.");
      const failures = failuresOf(statuses);
      if (failures.length > 0) await sink.reportUndelivered(failures);
    } catch (error) {
      return unavailable(binding, error);
    }
    sink.reportAlive();
    return new Response(null, { status: 200 });
  }

  /** The numbers in the post that do not belong to this account. */
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

  /** After a crash only a status shows that a reply was sent, so statuses are accepted only once that is stored. */
  async function areDeliveriesRecorded(statuses: MessageStatus[], sink: Sink): Promise<boolean> {
    const messages = new Set(statuses.flatMap(({ part }) => (part ? [part.message] : [])));
    return messages.size === 0 || (await sink.areDeliveriesRecorded?.([...messages])) !== false;
  }

  /** The failures of Berth's replies; messages that others sent from the number do not count. */
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
      const challenge = findChallenge(new URL(request.url).searchParams, secret);
      if (challenge === undefined) return unauthorized();
      sink.reportAlive();
      return new Response(challenge, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  };
}

const unauthorized = () => errorResponse(401, "UNAUTHORIZED", "The signature or token is missing or wrong.");

const hmac = (secret: string, body: Uint8Array) => new Bun.CryptoHasher("sha256", secret).update(body).digest("hex");

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}
