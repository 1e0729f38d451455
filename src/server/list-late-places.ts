// Prints which part of a plugin has which late route, as JSON: `bun src/server/list-late-places.ts`.
import { listLatePlaces } from "../kernel/late-apps.ts";
import { withTemporaryApp } from "./temporary-app.ts";

const places = await withTemporaryApp(async ({ lateParts }) => ({
  web: await listLatePlaces(lateParts("web")),
  backend: await listLatePlaces(lateParts("backend")),
}));
process.stdout.write(JSON.stringify(places));
