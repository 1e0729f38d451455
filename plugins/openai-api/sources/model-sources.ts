// The registry of model sources: finds the source that a model's id belongs to.
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
  readonly all: readonly ModelSource[];
}

export function createModelSources(): ModelSources {
  const all: ModelSource[] = [];
  return {
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
  };
}
