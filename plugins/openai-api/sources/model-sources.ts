// The registry of model sources: finds the source that a model's id belongs to.
import { invalidInput } from "../../../src/kernel/errors.ts";
import type { ModelSource } from "./model-source.ts";

export interface FoundSource {
  readonly source: ModelSource;
  /** The model's id after the source's prefix. */
  readonly name: string;
}

export interface ModelSources {
  /** Throws for a prefix that is registered already. */
  register(source: ModelSource): void;
  /** Undefined for a model of a provider. */
  sourceOf(model: unknown): FoundSource | undefined;
  /** Throws 400 for a model of a source where only a provider's is taken: its name must not get to a provider. */
  refuse(model: unknown): void;
  readonly all: readonly ModelSource[];
}

export function createModelSources(): ModelSources {
  const all: ModelSource[] = [];
  const sources: ModelSources = {
    all,
    register(source) {
      if (all.some(({ prefix }) => prefix === source.prefix)) {
        throw new Error(`A model source with the prefix ${source.prefix} is registered already.`);
      }
      all.push(source);
    },
    sourceOf(model) {
      if (typeof model !== "string") return undefined;
      for (const source of all) {
        if (model.startsWith(source.prefix)) return { source, name: model.slice(source.prefix.length) };
      }
      return undefined;
    },
    refuse(model) {
      if (!sources.sourceOf(model)) return;
      const message = "This model answers in text: call it at /v1/chat/completions, /v1/responses or /v1/messages.";
      throw invalidInput({ path: "model", message });
    },
  };
  return sources;
}
