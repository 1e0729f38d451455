// Web routes for the operator's model providers: admins only, forwarded to the backend.

import { Elysia } from "elysia";
import { encodePathSegment } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { auth, Identity } from "../auth/index.ts";
import { ACTION, DETAILS, MODELS_PATH, PATH } from "./backend-routes.ts";
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

interface Deps {
  backend: BackendTransport;
  authService: Pick<ServiceOf<typeof auth>, "identities">;
}

export function webRoutes({ backend, authService: { identities } }: Deps) {
  const forward = ({ identity, request }: { identity: Identity; request: Request }, path: string) =>
    forwardToBackend(backend, identities.createGrant(identity, request, ACTION), request, path);
  const pathOf = (provider: string, rest = "") => `${PATH}/${encodePathSegment(provider)}${rest}`;

  return new Elysia({ name: "model-providers.web" })
    .use(identities.guards)
    .get(PATH, (context) => forward(context, PATH), {
      admin: true,
      response: { 200: providerList },
      detail: DETAILS.list,
    })
    .put(`${PATH}/:provider`, (context) => forward(context, pathOf(context.params.provider)), {
      adminSession: true,
      body: providerBody,
      response: { 200: provider },
      detail: DETAILS.save,
    })
    .delete(`${PATH}/:provider`, (context) => forward(context, pathOf(context.params.provider)), {
      adminSession: true,
      response: { 200: provider },
      detail: DETAILS.remove,
    })
    .post(`${PATH}/:provider/test`, (context) => forward(context, pathOf(context.params.provider, "/test")), {
      adminSession: true,
      body: tryBody,
      response: { 200: tryResult },
      detail: DETAILS.test,
    })
    .get(MODELS_PATH, (context) => forward(context, `${MODELS_PATH}${new URL(context.request.url).search}`), {
      admin: true,
      query: modelsQuery,
      response: { 200: defaultModels },
      detail: DETAILS.models,
    })
    .patch(MODELS_PATH, (context) => forward(context, MODELS_PATH), {
      adminSession: true,
      body: defaultModelsBody,
      response: { 200: defaultModels },
      detail: DETAILS.saveModels,
    });
}
