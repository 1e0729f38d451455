// The console: serves the web app from inside the binary, at the addresses of its pages and at /assets/.

import { plugin } from "../../src/kernel/plugin.ts";
import { auth } from "../auth/index.ts";
import { pageRoutes } from "./page-routes.ts";

export const console = plugin("console", (host) => {
  const { homePage, hasSessionCookie } = host.use(auth);
  return {
    service: undefined,
    web: pageRoutes({ homePage, hasSessionCookie }),
    // A first visit asks for dozens of them, and several people may share an address.
    selfLimitedPaths: [{ surface: "web", method: "GET", prefix: "/assets/" }],
  };
});
