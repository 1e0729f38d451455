// The console: serves the web app from inside the binary, at the addresses of its pages and at /assets/.

import { plugin } from "../../src/kernel/plugin.ts";
import { auth } from "../auth/index.ts";
import { assetResponse, referenceFiles } from "./built-files.ts";
import { pageRoutes } from "./page-routes.ts";

export const console = plugin("console", (host) => {
  const { homePage, hasSessionCookie } = host.use(auth);
  return {
    /** The files of the API's page, which both surfaces serve. */
    service: { reference: { names: referenceFiles, response: assetResponse } },
    web: pageRoutes({ homePage, hasSessionCookie }),
    // A first visit asks for dozens of them, and several people may share an address.
    selfLimitedPaths: [{ surface: "web", method: "GET", prefix: "/assets/" }],
  };
});
