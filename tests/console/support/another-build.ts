// Serves the console as if Berth had been updated: every file has another name, and the former ones are gone.

import type { BrowserContext } from "playwright-core";

/** The hash in a file's name: `index-kje3whw1.js`. */
const HASH = /-([0-9a-z]{8})(?=\.(?:js|css|svg|png|webmanifest)\b)/g;
const NEW_HASH = /-new([0-9a-z]{8})(?=\.)/;

export interface AnotherBuild {
  /** How often a page of this build was loaded. */
  loads(): number;
}

export async function serveAnotherBuild(context: BrowserContext): Promise<AnotherBuild> {
  let loads = 0;
  const rename = (text: string) => text.replace(HASH, "-new$1");
  await context.route("**/assets/*", async (route) => {
    const url = route.request().url();
    if (!NEW_HASH.test(url)) return route.fulfill({ status: 404, json: { error: "There is no such file." } });
    const response = await route.fetch({ url: url.replace(NEW_HASH, "-$1") });
    const isText = /\.(?:js|css)$/.test(url);
    await route.fulfill({ response, ...(isText && { body: rename(await response.text()) }) });
  });
  await context.route("**/*", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    loads += 1;
    const response = await route.fetch();
    await route.fulfill({ response, body: rename(await response.text()) });
  });
  return { loads: () => loads };
}
