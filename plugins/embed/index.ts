// The chat on sites of others: a script that shows it as a bubble, and a page for frames.
import type { CrossOriginPath } from "../../src/kernel/http/cross-origin-paths.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { publicPage } from "../public-page/index.ts";
import { createEmbeddings } from "./embeddings.ts";
import { pageRoutes } from "./page-routes.ts";

export const embed = plugin("embed", ({ kernel, use }) => {
  const { users } = use(auth);
  const embeddings = createEmbeddings({ ...kernel, users, agents: use(agents) });
  const { visitors, visitorMessages } = use(publicPage);
  const chatOfVisitors: CrossOriginPath = {
    surface: "web",
    prefix: "/api/embed/",
    allows: async (request) => (await embeddings.admitted(request)) !== undefined,
  };
  return {
    service: undefined,
    web: pageRoutes({ ...kernel, embeddings }),
    lateRoutes: {
      web: [
        async () => (await import("./chat-routes.ts")).chatRoutes({ ...kernel, embeddings, visitors, visitorMessages }),
      ],
    },
    crossOriginPaths: [chatOfVisitors],
    // Every page view of a site with the chat asks for the script.
    selfLimitedPaths: [{ surface: "web", method: "GET", prefix: "/embed.js" }],
  };
});
