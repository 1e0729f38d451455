// Gives agents the models by which they hear and speak: by their configuration, their keys and the operator's settings.
import type { Agent, AgentSettings } from "../../agents/index.ts";
import { createMediaCalls, type MediaAnswer } from "../media/media-calls.ts";
import { createMediaModels, SPEECH, TRANSCRIPTION } from "../media/media-models.ts";
import type { ProviderId } from "../providers/provider.ts";
import { type Recording, recordingOf } from "./recording.ts";
import { type Speech, type SpeechRequest, speak } from "./speech.ts";
import { type TranscriptionRequest, transcribe } from "./transcription.ts";

export interface Transcriber {
  /** Recordings are written down for a model that hears, too, so that they can be remembered. */
  readonly isForAll: boolean;
  /** The key is the agent's or its owner's. */
  readonly ownKey: boolean;
  /** The kind and the length of a recording; undefined for bytes that no model takes. */
  recordingOf(bytes: Uint8Array): Recording | undefined;
  /** The recording's words, which may be none. @throws as `transcription.ts` */
  transcribe(
    request: Omit<TranscriptionRequest, "payer" | "language"> & { turnId: string },
  ): Promise<MediaAnswer<string>>;
}

export interface Speaker {
  /** The key is the agent's or its owner's. */
  readonly ownKey: boolean;
  /** @throws as `speech.ts` */
  speak(request: Pick<SpeechRequest, "text" | "signal"> & { turnId: string }): Promise<MediaAnswer<Speech>>;
}

interface Deps {
  models: Parameters<typeof createMediaModels>[0];
  calls: Parameters<typeof createMediaCalls>[0];
  agents: {
    settings(agentId: string): Promise<AgentSettings>;
    credentials: { providerKeys(agentId: string): Promise<Partial<Record<ProviderId, string>>> };
  };
  /** The models that the operator has set. */
  operator: { readonly transcription: string | undefined; readonly speech: string | undefined };
}

export function createAudio({ models, calls, agents, operator }: Deps) {
  const modelsFor = createMediaModels(models);
  const call = createMediaCalls(calls);

  /** Undefined if the agent wants none, or no provider of the agent or the operator has a model for it. */
  async function transcriberFor({ id, userId }: Pick<Agent, "id" | "userId">): Promise<Transcriber | undefined> {
    const { transcription = {}, budget } = await agents.settings(id);
    if (transcription.when === "never") return undefined;
    const keys = await agents.credentials.providerKeys(id);
    const choice = modelsFor(TRANSCRIPTION, transcription.model ?? operator.transcription, keys);
    if (choice.candidates.length === 0) return undefined;
    return {
      ownKey: choice.ownKey,
      isForAll: transcription.when === "always",
      recordingOf,
      transcribe: ({ turnId, ...request }) =>
        transcribe(call, choice, {
          ...request,
          payer: { agent: { id, userId }, turnId, budget },
          language: transcription.language,
        }),
    };
  }

  /** Undefined if no provider of the agent or the operator has a model that reads aloud. */
  async function speakerFor({ id, userId }: Pick<Agent, "id" | "userId">): Promise<Speaker | undefined> {
    const { voice = {}, budget } = await agents.settings(id);
    const keys = await agents.credentials.providerKeys(id);
    const choice = modelsFor(SPEECH, voice.model ?? operator.speech, keys);
    if (choice.candidates.length === 0) return undefined;
    return {
      ownKey: choice.ownKey,
      speak: ({ turnId, ...request }) =>
        speak(call, choice, { ...request, payer: { agent: { id, userId }, turnId, budget }, voice: voice.voice }),
    };
  }

  return { transcriberFor, speakerFor };
}
