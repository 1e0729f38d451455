// The web route that lists the templates of agents.
import { Elysia, t } from "elysia";
import { documentedAs } from "../../../src/kernel/http/openapi/schema-simplifier.ts";
import { languageOf } from "../../../src/kernel/pages/language.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { auth } from "../../auth/index.ts";
import { configSchema } from "../configuration/config-schema.ts";
import { NEXT_PAGES } from "./template.ts";
import { TEMPLATES, templateView } from "./templates.ts";

const createTemplateList = () =>
  t.Object({
    templates: t.Array(
      t.Object({
        id: t.String(),
        name: t.String(),
        description: t.String(),
        config: t.Record(t.String(), t.Any(), documentedAs(configSchema())),
        next: t.Array(t.Object({ page: t.String({ description: NEXT_PAGES.join(", ") }), text: t.String() }), {
          description: "What to do after the agent was made: a page of the agent in the console, and a sentence",
        }),
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
      response: { 200: createTemplateList() },
      detail: {
        tags: ["Agents"],
        summary: "Configurations to begin with, in the language of `Accept-Language`",
        description: "`POST /api/agents/provision` takes the id of one as `template`.",
      },
    },
  );
}
