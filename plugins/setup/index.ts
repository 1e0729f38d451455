// The plugin of the first run: which steps a person has taken, and which they left out.

import { Elysia } from "elysia";
import { forwardResponse } from "../../src/kernel/http/backend/backend-response.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth, type Identity } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { runtime } from "../runtime/index.ts";
import { setupState, skippedBody } from "./model.ts";
import { createSetupState } from "./setup-state.ts";

const PATH = "/api/setup";
const ACTION = "setup.read";
const readDetail = {
  tags: ["Account"],
  summary: "How far the caller has come with the first run",
  ...documentErrors({ 502: "BACKEND_UNAVAILABLE" }),
};

export const setup = plugin("setup", (host) => {
  const { backend, database } = host.kernel;
  const { identities } = host.use(auth);
  const state = createSetupState({
    database,
    agents: host.use(agents),
    ai: host.use(ai),
    sessions: host.use(runtime).sessions,
    channels: host.use(channels),
  });

  /** Asks the backend, which knows what models serve. */
  const read = async ({ identity, request }: { identity: Identity; request: Request }) =>
    forwardResponse(
      await backend.fetch(identities.createGrant(identity, request, ACTION), PATH, {
        method: "GET",
        signal: request.signal,
      }),
    );

  return {
    service: {},
    web: new Elysia({ name: "setup.web" })
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
          detail: { ...readDetail, summary: "Leave out steps of the first run, or take them up again" },
        },
      ),
    backend: new Elysia({ name: "setup.backend" }).use(identities.guards).get(PATH, ({ caller }) => state.of(caller), {
      granted: ACTION,
      response: { 200: setupState },
      detail: readDetail,
    }),
  };
});
