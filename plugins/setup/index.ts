// The plugin of the first run: which steps a person has taken, and which they left out.
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { ai } from "../ai/index.ts";
import { auth } from "../auth/index.ts";
import { channels } from "../channels/index.ts";
import { runtime } from "../runtime/index.ts";
import { createSetupState } from "./setup-state.ts";

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
  return {
    service: {},
    lateRoutes: {
      web: [async () => (await import("./routes.ts")).webRoutes({ backend, identities, state })],
      backend: [async () => (await import("./routes.ts")).backendRoutes({ identities, state })],
    },
  };
});
