// The APIs of OpenAI and Anthropic, as their clients call them.
import type { Tour } from "../tour.ts";
import type { World } from "../world.ts";

/** Models that the program knows, so that a reader can send the examples with a key of their provider. */
const MODEL = "gpt-5-mini";

export async function models({ call }: Tour, { upstream }: World): Promise<void> {
  upstream.script(() => ({ text: "Ahoy!" }));
  const messages = [{ role: "user", content: "Ahoy!" }];
  await call("GET /v1/models");
  await call("GET /v1/models/{id}", { path: { id: "provider_3:fake-small" } });
  await call("POST /v1/chat/completions", { body: { model: MODEL, messages } });
  await call("POST /v1/embeddings", { body: { model: "text-embedding-3-small", input: "Ahoy!" } });
  const { body: made } = await call("POST /v1/responses", { body: { model: MODEL, input: "Ahoy!", store: true } });
  const path = { id: made.id ?? "unknown" };
  await call("GET /v1/responses/{id}", { path });
  await call("GET /v1/responses/{id}/input_items", { path });
  await call("DELETE /v1/responses/{id}", { path });
  await call("POST /v1/messages", { body: { model: MODEL, max_tokens: 100, messages } });
  const file = new File([new Uint8Array(64)], "ahoy.wav", { type: "audio/wav" });
  await call("POST /v1/audio/transcriptions", { file });
  await call("POST /v1/audio/speech", { body: { model: "provider_3:fake-speech", input: "Ahoy!", voice: "alloy" } });
  await call("POST /v1/images/generations", { body: { model: "provider_3:fake-image", prompt: "A harbour" } });
}
