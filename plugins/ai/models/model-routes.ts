// Routes on which signed-in people search the catalogue, and see what the choices of agents stand for.
import { Elysia, type Static } from "elysia";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { readFlag, readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import { agentNotFound, type agents as agentsPlugin } from "../../agents/index.ts";
import type { auth } from "../../auth/index.ts";
import type { createTurnModels } from "../calls/turn-models.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import type { CatalogueEntry } from "../providers/catalogue-entry.ts";
import type { ProviderId } from "../providers/provider.ts";
import type { Providers } from "../providers/providers.ts";
import { modelCatalogue, modelsQuery } from "./model-schema.ts";

const PATH = "/api/models";
const ACTION = "models.list";
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 500;

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "credentials">;
  providers: Providers;
  catalogue: Pick<Catalogue, "list" | "entry" | "capabilities">;
  resolveTurnModel: ReturnType<typeof createTurnModels>["resolveTurnModel"];
  labelOf(provider: ProviderId): string;
  isDown(provider: ProviderId): boolean;
}

export function modelRoutes(deps: Deps) {
  const { backend, identities, agents, providers, catalogue, resolveTurnModel, labelOf, isDown } = deps;
  const route = {
    query: modelsQuery,
    response: { 200: modelCatalogue },
    detail: {
      tags: ["AI"],
      summary: "Search the models, with prices and capabilities",
      description:
        "Models of all providers that the service knows, by name, provider and availability. With `agentId`, the keys of that agent count, too.",
    },
  };

  const price = ({ inputCost, outputCost, priceKnown }: CatalogueEntry) => ({ inputCost, outputCost, priceKnown });
  const windowOf = ({ contextWindow, windowKnown }: CatalogueEntry) => (windowKnown ? contextWindow : null);

  function toItem(entry: CatalogueEntry) {
    const { id, name, provider, description, tags, available } = entry;
    const { inputs, tools } = catalogue.capabilities(entry);
    return {
      reference: `${provider}:${id}`,
      id,
      name,
      provider,
      providerName: labelOf(provider),
      description,
      tags: [...tags],
      ...price(entry),
      contextWindow: windowOf(entry),
      available: available && !isDown(provider),
      inputs: [...inputs],
      tools,
    };
  }

  async function choiceOf(choice: "model_a" | "model_b", keys: Partial<Record<ProviderId, string>>) {
    const { provider, modelId, demo, ownKey } = await resolveTurnModel({ choice, keys });
    const entry = catalogue.entry(provider, modelId);
    return {
      reference: demo ? null : `${provider}:${modelId}`,
      name: entry.name,
      provider,
      providerName: labelOf(provider),
      ...price(entry),
      contextWindow: windowOf(entry),
      ownKey,
      demo,
    };
  }

  async function keysOf(userId: string, agentId: string | undefined) {
    if (agentId === undefined) return {};
    if ((await agents.find(agentId))?.userId !== userId) throw agentNotFound();
    return agents.credentials.providerKeys(agentId);
  }

  async function search(userId: string, query: Static<typeof modelsQuery>) {
    const limit = readLimit(query.limit, DEFAULT_LIMIT, MAX_LIMIT);
    const offset = readOffset(query.offset);
    const onlyAvailable = readFlag(query.available, "available");
    const words = (query.query ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const keys = await keysOf(userId, query.agentId);
    const all = await catalogue.list();
    const found = all.filter(
      (entry) =>
        (query.provider === undefined || entry.provider === query.provider) &&
        (!onlyAvailable || (entry.available && !isDown(entry.provider))) &&
        contains(entry, words),
    );
    const models = found.slice(offset, offset + limit).map(toItem);
    const configured = new Set(providers.configuredUpstreams().map(({ provider }) => provider));
    const [model_a, model_b] = await Promise.all([choiceOf("model_a", keys), choiceOf("model_b", keys)]);
    return {
      models,
      count: models.length,
      total: found.length,
      providers: providers.registry.ids.map((id) => ({
        id,
        name: labelOf(id),
        configured: configured.has(id) && !providers.isDemo(),
        models: all.filter(({ provider }) => provider === id).length,
      })),
      choices: { model_a, model_b },
      demo: providers.isDemo(),
    };
  }

  return {
    web: new Elysia({ name: "ai.models.web" })
      .use(identities.guards)
      .get(
        PATH,
        ({ identity, request }) =>
          forwardToBackend(
            backend,
            identities.createGrant(identity, request, ACTION),
            request,
            `${PATH}${new URL(request.url).search}`,
            { signal: request.signal },
          ),
        {
          signedIn: "read",
          ...route,
          detail: { ...route.detail, ...documentErrors({ 404: "AGENT_NOT_FOUND", 502: "BACKEND_UNAVAILABLE" }) },
        },
      ),
    backend: new Elysia({ name: "ai.models.backend" })
      .use(identities.guards)
      .get(PATH, ({ caller, query }) => search(caller.userId, query), {
        granted: ACTION,
        ...route,
        detail: { ...route.detail, ...documentErrors({ 404: "AGENT_NOT_FOUND" }) },
      }),
  };
}

function contains({ id, name, description }: CatalogueEntry, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const text = `${id} ${name} ${description}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
