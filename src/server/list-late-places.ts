// Prints which late routes each part of a plugin has, as JSON: `bun src/server/list-late-places.ts`.
import type { LatePart, LatePlaces } from "../kernel/late-apps.ts";
import { withTemporaryApp } from "./temporary-app.ts";

async function placesOf(parts: readonly LatePart[]): Promise<LatePlaces> {
  const places: Record<string, string[]> = {};
  for (const { name, make } of parts) {
    const { routes } = await make();
    places[name] = routes.map(({ method, path }) => `${method} ${path}`);
  }
  return places;
}

const places = await withTemporaryApp(async ({ lateParts }) => ({
  web: await placesOf(lateParts("web")),
  backend: await placesOf(lateParts("backend")),
}));
process.stdout.write(JSON.stringify(places));
