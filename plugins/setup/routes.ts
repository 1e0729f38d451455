// Routes on both surfaces that tell how far the caller has come with the first run, and leave steps out.
import { Elysia } from "elysia";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import type { Identities, Identity } from "../auth/index.ts";
import { setupState, skippedBody } from "./model.ts";
import type { SetupState } from "./setup-state.ts";

interface Deps {
  backend: BackendTransport;
  identities: Identities;
  state: SetupState;
}

const PATH = "/api/setup";
const ACTION = "setup.read";
const readDetail = {
  tags: ["Setup"],
  summary: "How far the caller has come with the first run",
  description:
    "The steps with their status, and which comes next. `agent` is the account's first agent, if it has one.",
  operationId: "getSetupProgress",
  ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
};

export function webRoutes({ backend, identities, state }: Deps) {
  /** Asks the backend, which knows what models serve. */
  const read = async ({ identity, request }: { identity: Identity; request: Request }) =>
    forwardResponse(
      await backend.fetch(identities.createGrant(identity, request, ACTION), PATH, {
        method: "GET",
        signal: request.signal,
      }),
    );

  return new Elysia({ name: "setup.web" })
    .use(identities.guards)
    .get(PATH, read, { signedIn: "read", response: { 200: setupState }, detail: readDetail })
    .put(
      `${PATH}/skipped`,
      async (context) => {
        await state.skip(context.identity.user.id, context.body.steps);
        return read(context);
      },
      {
        signedIn: "write",
        body: skippedBody,
        response: { 200: setupState },
        detail: {
          ...readDetail,
          summary: "Leave out steps of the first run, or take them up again",
          description: "`steps` replaces the list of steps that are left out.",
          operationId: "setSkippedSetupSteps",
        },
      },
    );
}

export const backendRoutes = ({ identities, state }: Pick<Deps, "identities" | "state">) =>
  new Elysia({ name: "setup.backend" }).use(identities.guards).get(PATH, ({ caller }) => state.of(caller), {
    granted: ACTION,
    response: { 200: setupState },
    detail: readDetail,
  });
