// Tries a provider with a tiny question, and says in words why it does not answer. Nothing is stored and nothing retried.

import { createKeyPattern, readErrorMessage } from "../calls/provider-errors.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import { fetchModelList } from "../providers/model-list.ts";
import { authHeaders, type Upstream } from "../providers/providers.ts";
import { costOfCall, estimateUsage, findLastUsage, findModel } from "../providers/token-usage.ts";

/** Why a provider gave no answer. */
export const TRY_FAILURES = [
  "wrong_key",
  "no_credit",
  "no_model",
  "rate_limited",
  "no_connection",
  "unreachable",
  "timeout",
  "not_a_model_server",
  "refused",
  "failed",
] as const;
export type TryFailure = (typeof TRY_FAILURES)[number];

export type TryResult =
  | { ok: true; model: string; reply: string; ms: number; costUsd: number }
  | { ok: false; model: string; reason: TryFailure; message: string; detail: string | null; ms: number };

interface Deps {
  catalogue: Pick<Catalogue, "entry">;
}

const QUESTION = "Say hello in one short, friendly sentence.";
/** Models that think first spend tokens on that, too. */
const MAX_TOKENS = 400;
const TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_REPLY_CHARACTERS = 600;

/** @param model the provider's own id; undefined: the first model of a local server, else the default one */
export async function tryProvider(
  upstream: Upstream,
  model: string | undefined,
  { catalogue }: Deps,
): Promise<TryResult> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const chosen = model ?? (upstream.local ? await firstModel(upstream) : undefined);
  const modelId = chosen ?? upstream.definition.defaultModels.model_a;
  const failed = (reason: TryFailure, detail: string | null = null): TryResult => {
    const message = failureText(reason, upstream, modelId);
    return { ok: false, model: modelId, reason, message, detail, ms: elapsed() };
  };
  const { maxTokensField } = upstream.definition.capabilities;
  const text = JSON.stringify({
    model: modelId,
    messages: [{ role: "user", content: QUESTION }],
    [maxTokensField]: MAX_TOKENS,
  });
  let response: Response;
  let bytes: Buffer;
  try {
    response = await upstream.fetch(`${upstream.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { ...authHeaders(upstream), "content-type": "application/json", accept: "application/json" },
      body: text,
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    bytes = await readLimited(response);
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") return failed("timeout");
    // The provider's own address was not typed by anybody, so the message must not ask to check it.
    return failed(upstream.baseUrl === upstream.definition.baseUrl ? "no_connection" : "unreachable");
  }
  if (!response.ok) {
    const detail = readErrorMessage(
      bytes.toString(),
      upstream.apiKey,
      createKeyPattern({ all: [upstream.definition] }),
    );
    return failed(failureOf(response.status, detail ?? "", upstream), detail ?? null);
  }
  const reply = replyIn(bytes.toString());
  if (reply === undefined) return failed("not_a_model_server");
  const usage = findLastUsage(bytes, upstream.definition.readCharge);
  const { pricing } = catalogue.entry(upstream.provider, modelId);
  const cost = upstream.local
    ? 0
    : costOfCall(pricing, usage ? { ...usage, estimated: false } : estimateUsage(text, reply.length));
  return {
    ok: true,
    model: findModel(bytes) ?? modelId,
    reply: reply.slice(0, MAX_REPLY_CHARACTERS).toWellFormed(),
    ms: elapsed(),
    costUsd: cost / 1e6,
  };
}

/** The first chat model that a local server lists; undefined if it lists none or can't be asked. */
async function firstModel(upstream: Upstream): Promise<string | undefined> {
  try {
    return (await fetchModelList(upstream))?.find(({ isEmbedding }) => !isEmbedding)?.id;
  } catch {
    // The question fails, too, and says why.
    return undefined;
  }
}

async function readLimited(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= MAX_BODY_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** The text of a chat completion, empty if it has none; undefined for something else. */
function replyIn(json: string): string | undefined {
  let body: unknown;
  try {
    body = JSON.parse(json);
  } catch {
    // A page, such as that of a router or another web server.
    return undefined;
  }
  const choices = typeof body === "object" && body !== null && "choices" in body ? body.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (typeof first !== "object" || first === null || !("message" in first)) return undefined;
  const { message } = first;
  if (typeof message !== "object" || message === null) return undefined;
  return "content" in message && typeof message.content === "string" ? message.content.trim() : "";
}

/** Providers answer a wrong key and an empty account with different statuses, so that their words count as well. */
function failureOf(status: number, detail: string, { definition, apiKey }: Upstream): TryFailure {
  if (/credit|quota|billing|payment|insufficient/i.test(detail) || status === 402) return "no_credit";
  if (/api[ _-]?key/i.test(detail) || status === 401 || status === 403) return "wrong_key";
  if (status === 429) return "rate_limited";
  if (/model/i.test(detail) || (status === 404 && detail !== "")) return "no_model";
  if (status === 404 || status === 405 || (status >= 300 && status < 400)) {
    return definition.capabilities.localServer && apiKey === undefined ? "not_a_model_server" : "no_model";
  }
  return status >= 500 ? "failed" : "refused";
}

function failureText(reason: TryFailure, { label, apiKey }: Upstream, model: string): string {
  const texts: Record<TryFailure, string> = {
    wrong_key:
      apiKey === undefined
        ? `${label} wants a key.`
        : `${label} does not accept this key. Copy it again, whole, or make a new one.`,
    no_credit: `${label} accepts the key, but its account has no credit left. Add credit there, then try again.`,
    no_model: `${label} does not know the model ${model}, or this key may not use it. Choose another one.`,
    rate_limited: `${label} has too many requests of this key right now. Wait a minute, then try again.`,
    no_connection:
      `${label} can't be reached from the machine on which Berth runs. Check its connection to the internet, and that ` +
      "no firewall stops it. Then try again.",
    unreachable: `${label} can't be reached. Check the address, and that this machine may connect to it.`,
    timeout: `${label} did not answer in ${TIMEOUT_MS / 1000} seconds. Try again, or choose a smaller model.`,
    not_a_model_server: `Something answers at this address, but it is no OpenAI-compatible model server. Does the address end in /v1?`,
    refused: `${label} refused the question.`,
    failed: `${label} has a problem of its own right now. Try again in a minute.`,
  };
  return texts[reason];
}
