// Backend routes for the operator's model providers: the backend alone calls models, so that a change is in force at once.

import { Elysia } from "elysia";
import { forbidden } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { admin as adminPlugin } from "../admin/index.ts";
import type { OperatorProviders } from "../ai/index.ts";
import type { auth } from "../auth/index.ts";
import {
  defaultModels,
  defaultModelsBody,
  modelsQuery,
  provider,
  providerBody,
  providerList,
  tryBody,
  tryResult,
} from "./model.ts";

export const ACTION = "model-providers";
export const PATH = "/api/admin/model-providers";
export const MODELS_PATH = "/api/admin/default-models";

const PAGE = 50;
const MAX_PAGE = 200;

export const DETAILS = {
  list: {
    tags: ["Admin"],
    summary: "The model providers of the operator's keys, without the keys",
    description:
      "Each with its address, the source of its key, and its health. `keyEnd` is all that is shown of a key.",
  },
  save: {
    tags: ["Admin"],
    summary: "Store a model provider's key or address, in force at once",
    description:
      "Omitted fields stay. Keys are sealed, survive restarts, and never leave Berth again. What the environment sets wins and " +
      "can't be changed here. Only a provider that may be a local server can have another address: a public one, one of this " +
      "machine (such as a local Ollama), or one that `OUTBOUND_ALLOW` names. A stored key is never sent to a new address: give it again.",
    ...documentErrors({
      400: ["KEY_REQUIRED", "INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"],
      404: "UNKNOWN_PROVIDER",
      409: "SET_BY_ENVIRONMENT",
      502: ["UPSTREAM_UNREACHABLE", "BACKEND_UNAVAILABLE"],
      504: "UPSTREAM_TIMEOUT",
    }),
  },
  remove: {
    tags: ["Admin"],
    summary: "Forget what is stored of a model provider",
    description: "Settings of the environment are in force again, if there are any.",
    ...documentErrors({ 404: ["UNKNOWN_PROVIDER", "NOTHING_STORED"], 502: "BACKEND_UNAVAILABLE" }),
  },
  test: {
    tags: ["Admin"],
    summary: "Ask a model provider a tiny question, with settings that are not stored",
    description:
      "Without fields it asks with the settings in force. The question costs the provider's price, a small part of a cent, and " +
      "is not in the ledger. A provider that gives no answer is 200 with `ok: false` and the reason.",
    ...documentErrors({
      400: ["KEY_REQUIRED", "INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"],
      404: "UNKNOWN_PROVIDER",
      429: "RATE_LIMITED",
      502: ["UPSTREAM_UNREACHABLE", "BACKEND_UNAVAILABLE"],
      504: "UPSTREAM_TIMEOUT",
    }),
  },
  models: {
    tags: ["Admin"],
    summary: "The default models of agents, and what may be chosen",
    description: "`source` says whether the environment, an admin or Berth itself has chosen a model.",
    operationId: "getDefaultModels",
  },
  saveModels: {
    tags: ["Admin"],
    summary: "Choose the default models of agents",
    description:
      "In force at once, for agents that use `model_a` or `model_b`. A model that the environment sets can't be changed here.",
    operationId: "updateDefaultModels",
    ...documentErrors({ 409: "SET_BY_ENVIRONMENT", 502: "BACKEND_UNAVAILABLE" }),
  },
};

interface Deps extends Pick<Kernel, "limits"> {
  authService: Pick<ServiceOf<typeof auth>, "identities" | "users">;
  audit: ServiceOf<typeof adminPlugin>["auditStatement"];
  operatorProviders: OperatorProviders;
}

interface AdminCaller {
  userId: string;
  isAdmin: boolean;
  hasServiceToken: boolean;
  address: string;
}

/** The web surface has asked for a session where one is needed; another caller of the backend may have an API key only. */
function requireAdmin({ isAdmin, hasServiceToken }: AdminCaller): void {
  if (!isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
  if (!hasServiceToken) throw forbidden("SESSION_REQUIRED", "Sign in on the web surface to do this.");
}

export function backendRoutes({ authService, audit, operatorProviders, limits }: Deps) {
  const { identities, users } = authService;

  async function auditStatement(
    { userId, address }: AdminCaller,
    request: Request,
    entry: { action: string; target: { kind: string; id: string; name: string }; details: Record<string, unknown> },
  ) {
    const name = (await users.byId(userId))?.email ?? "";
    return audit({ kind: "user", id: userId, name, address, requestId: contextOf(request).id }, entry);
  }

  const targetOf = (id: Parameters<typeof operatorProviders.describe>[0]) => ({
    kind: "model-provider",
    id,
    name: operatorProviders.describe(id).label,
  });

  return new Elysia({ name: "model-providers.backend" })
    .use(identities.guards)
    .get(
      PATH,
      async ({ caller }) => {
        if (!caller.isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
        const { providers, ...rest } = await operatorProviders.list();
        return { providers, count: providers.length, ...rest, models: operatorProviders.models() };
      },
      { granted: ACTION, response: { 200: providerList }, detail: DETAILS.list },
    )
    .put(
      `${PATH}/:provider`,
      async ({ caller, request, params, body }) => {
        requireAdmin(caller);
        const id = operatorProviders.requireProvider(params.provider);
        const details = {
          ...(body.apiKey === undefined ? {} : { apiKey: body.apiKey === null ? "removed" : "replaced" }),
          ...(body.baseUrl === undefined ? {} : { baseUrl: body.baseUrl }),
        };
        const entry = { action: "model-provider.set", target: targetOf(id), details };
        await operatorProviders.save(id, body, await auditStatement(caller, request, entry));
        return operatorProviders.describe(id);
      },
      { granted: ACTION, body: providerBody, response: { 200: provider }, detail: DETAILS.save },
    )
    .delete(
      `${PATH}/:provider`,
      async ({ caller, request, params }) => {
        requireAdmin(caller);
        const id = operatorProviders.requireProvider(params.provider);
        const entry = { action: "model-provider.remove", target: targetOf(id), details: {} };
        await operatorProviders.remove(id, await auditStatement(caller, request, entry));
        return operatorProviders.describe(id);
      },
      { granted: ACTION, response: { 200: provider }, detail: DETAILS.remove },
    )
    .post(
      `${PATH}/:provider/test`,
      async ({ caller, params, body }) => {
        requireAdmin(caller);
        const id = operatorProviders.requireProvider(params.provider);
        const decision = limits.take("model-test", caller.userId);
        if (!decision.allowed) throw limits.tooManyRequests(decision);
        return operatorProviders.tryOut(id, body);
      },
      { granted: ACTION, body: tryBody, response: { 200: tryResult }, detail: DETAILS.test },
    )
    .get(
      MODELS_PATH,
      async ({ caller, query }) => {
        if (!caller.isAdmin) throw forbidden("ADMIN_REQUIRED", "Only admins can do this.");
        const range = { limit: readLimit(query.limit, PAGE, MAX_PAGE), offset: readOffset(query.offset) };
        const found = await operatorProviders.findModels({ query: query.query, ...range });
        return { models: operatorProviders.models(), ...found, ...range };
      },
      { granted: ACTION, query: modelsQuery, response: { 200: defaultModels }, detail: DETAILS.models },
    )
    .patch(
      MODELS_PATH,
      async ({ caller, request, body }) => {
        requireAdmin(caller);
        const before = Object.fromEntries(operatorProviders.models().map(({ choice, model }) => [choice, model]));
        const details = Object.fromEntries(
          Object.entries(body).map(([choice, to]) => [choice, { from: before[choice], to }]),
        );
        const target = { kind: "setting", id: "default-models", name: "Default models" };
        const entry = { action: "default-models.set", target, details };
        await operatorProviders.saveModels(definedOnly(body), await auditStatement(caller, request, entry));
        const found = await operatorProviders.findModels({ limit: PAGE, offset: 0 });
        return { models: operatorProviders.models(), ...found, limit: PAGE, offset: 0 };
      },
      { granted: ACTION, body: defaultModelsBody, response: { 200: defaultModels }, detail: DETAILS.saveModels },
    );
}

/** `exactOptionalPropertyTypes` tells an absent choice from an undefined one. */
function definedOnly({
  model_a,
  model_b,
}: {
  model_a?: string | null | undefined;
  model_b?: string | null | undefined;
}) {
  return { ...(model_a === undefined ? {} : { model_a }), ...(model_b === undefined ? {} : { model_b }) };
}
