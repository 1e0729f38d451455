// The public page of an agent: a card at its address, and a chat for anybody where its owner switches it on.
import { plugin } from "../../src/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { runtime } from "../runtime/index.ts";
import { backendRoutes } from "./backend.ts";
import { createFaces } from "./faces.ts";
import { createPublicPages } from "./pages.ts";
import { createTurns } from "./turns.ts";
import { createVisitors } from "./visitors.ts";
import { webRoutes } from "./web.ts";

export const visits = plugin("visits", (host) => {
  const { kernel } = host;
  const { identities, users } = host.use(auth);
  const hosted = host.use(agents);
  const pages = createPublicPages(kernel);
  return {
    service: {
      /** Whether anybody may talk to an agent at its public address, and so know its name. */
      page: pages.of,
    },
    web: webRoutes({
      ...kernel,
      identities,
      users,
      agents: hosted,
      pages,
      visitors: createVisitors(kernel),
      turns: createTurns(kernel),
      faces: createFaces(kernel.config),
    }),
    backend: backendRoutes({ identities, agents: hosted, runtime: host.use(runtime), pages }),
  };
});
