// The web route that lists the templates of agents.
import { Elysia, t } from "elysia";
import { languageOf } from "../../../src/kernel/pages/language.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";
import { TEMPLATES, templateView } from "./templates.ts";

const templateList = t.Object({
  templates: t.Array(
    t.Object({
      id: t.String(),
      name: t.String(),
      description: t.String(),
      config: t.Record(t.String(), t.Any(), { description: "A whole configuration" }),
    }),
  ),
  count: t.Integer(),
});

export function templateRoutes({ identities }: { identities: ServiceOf<typeof auth>["identities"] }) {
  return new Elysia({ name: "agents.templates" }).use(identities.guards).get(
    "/api/templates",
    ({ request, set }) => {
      set.headers.vary = "accept-language";
      const language = languageOf(request);
      return { templates: TEMPLATES.map((one) => templateView(one, language)), count: TEMPLATES.length };
    },
    {
      signedIn: "read",
      response: { 200: templateList },
      detail: {
        tags: ["Agents"],
        summary: "Configurations to begin with, in the language of `Accept-Language`",
        description: "`POST /api/agents/provision` takes the id of one as `template`.",
      },
    },
  );
}
