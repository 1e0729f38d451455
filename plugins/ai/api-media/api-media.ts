// Serves the sound and pictures of the AI API on the operator's keys, paid like its other calls.
import { unauthorized } from "../../../src/kernel/errors.ts";
import { createMediaCalls } from "../media/media-calls.ts";
import { createMediaModels } from "../media/media-models.ts";
import { createImages } from "./images.ts";
import type { ApiMedia } from "./media-client.ts";
import { noMediaModel } from "./media-fields.ts";
import { createSpeeches } from "./speeches.ts";
import { createTranscriptions } from "./transcriptions.ts";

interface Deps {
  models: Parameters<typeof createMediaModels>[0];
  calls: Parameters<typeof createMediaCalls>[0];
  /** Whole micro-USD a day for calls without an account; 0 refuses them. */
  publicBudget: number;
  isUnlimited(userId: string): Promise<boolean>;
  operator: ApiMedia["operator"];
}

export function createApiMedia({ models, calls, publicBudget, isUnlimited, operator }: Deps) {
  const modelsFor = createMediaModels(models);
  const media: ApiMedia = {
    call: createMediaCalls(calls),
    operator,
    choose(kind, model) {
      const choice = modelsFor(kind, model, {});
      if (choice.candidates.length === 0) throw noMediaModel(model);
      return choice;
    },
    payerOf({ userId }) {
      if (userId !== undefined || publicBudget > 0) return { userId, publicBudget };
      throw unauthorized("Use without an account is turned off here. Send an API key, or sign in.");
    },
    isUnlimited: async ({ userId }) => userId !== undefined && isUnlimited(userId),
  };
  return { transcribe: createTranscriptions(media), speak: createSpeeches(media), paint: createImages(media) };
}
