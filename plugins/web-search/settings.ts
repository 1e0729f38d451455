// The settings of web search: the operator's access to search providers, and how much an agent may search.
import { anyText, httpUrl, parser } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { optional, type Variable, withDefault } from "../../src/kernel/config/variable.ts";
import { searchProviders } from "./providers/registry.ts";

const count = parser("a whole number from 1 to 100000", (text) =>
  /^[1-9]\d{0,5}$/.test(text) && Number(text) <= 100_000 ? Number(text) : undefined,
);

/** One variable for each provider. */
const access: Record<string, Variable<string | undefined>> = Object.fromEntries(
  searchProviders.map(({ variable, label, needs, howToGet }) => [
    variable,
    needs === "key"
      ? optional(anyText, `Key of ${label}, with which all agents can search the web. ${howToGet}`, "secret")
      : optional(
          httpUrl,
          `Address of a ${label}, with which all agents can search the web; it may be private. ${howToGet}`,
        ),
  ]),
);

export const webSearchSettings = defineSettings({
  name: "web-search",
  variables: {
    ...access,
    WEB_SEARCHES_PER_DAY: withDefault(count, "100", "Web searches of an agent in a day (UTC)."),
  },
  build(v) {
    const values: Readonly<Record<string, unknown>> = v;
    return {
      /** The operator's key or address, by the id of the provider. */
      access: Object.fromEntries(
        searchProviders.map(({ id, variable }) => {
          const value = values[variable];
          return [id, typeof value === "string" ? value : undefined];
        }),
      ),
      searchesPerDay: v.WEB_SEARCHES_PER_DAY,
    };
  },
});
