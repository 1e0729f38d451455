// The APIs of OpenAI and Anthropic, as their clients call them.
import { sound } from "../../support/sounds.ts";
import type { Tour } from "../tour.ts";
import type { World } from "../world.ts";

/** Models that the program knows, so that a reader can send the examples with a key of their provider. */
const MODEL = "gpt-5-mini";

export async function models({ call }: Tour, { openAi, admin }: World): Promise<void> {
  openAi.script(() => ({ text: "Ahoy!" }));
  const recording = await sound("wav", 1);
  openAi.scriptAudio({ hears: () => "Ahoy! The harbour is open.", speaks: () => recording });
  const provider = "/api/admin/model-providers/provider_5";
  const operator = await admin();
  await operator.put(provider, { apiKey: "sk-the-operators-key" });
  const messages = [{ role: "user", content: "Ahoy!" }];
  await call("GET /v1/models");
  await call("GET /v1/models/{id}", { path: { id: MODEL } });
  await call("POST /v1/chat/completions", { body: { model: MODEL, messages } });
  await call("POST /v1/chat/completions", { body: { model: MODEL, messages, stream: true }, events: 20 });
  await call("POST /v1/embeddings", { body: { model: "text-embedding-3-small", input: "Ahoy!" } });
  const { body: made } = await call("POST /v1/responses", { body: { model: MODEL, input: "Ahoy!", store: true } });
  await call("POST /v1/responses", { body: { model: MODEL, input: "Ahoy!", stream: true }, events: 50 });
  const path = { id: made.id ?? "unknown" };
  await call("GET /v1/responses/{id}", { path });
  await call("GET /v1/responses/{id}/input_items", { path });
  await call("DELETE /v1/responses/{id}", { path });
  await call("POST /v1/messages", { body: { model: MODEL, max_tokens: 100, messages } });
  await call("POST /v1/messages", { body: { model: MODEL, max_tokens: 100, messages, stream: true }, events: 50 });
  const file = new File([recording], "ahoy.wav", { type: "audio/wav" });
  await call("POST /v1/audio/transcriptions", { file, fields: { model: "gpt-4o-mini-transcribe" } });
  const spoken = { model: "tts-1", input: "Ahoy!", voice: "alloy" };
  await call("POST /v1/audio/speech", { body: spoken });
  await call("POST /v1/images/generations", { body: { model: "gpt-image-1", prompt: "A harbour" } });
  await operator.delete(provider);
}
