// Each sentence of the server that pages show has a translation, and none is left over.
import { describe, expect, test } from "bun:test";
import { allSettings } from "../../src/server/settings.ts";
import { TRANSLATED } from "./languages.ts";
import { readTranslation } from "./read-translation.ts";
import { sentencesInSource, shapeOf } from "./server-sentences.ts";

/** Files whose sentences only programs, visitors of public pages, the plain forms of sign-in or the command line meet. */
const ELSEWHERE = [
  "plugins/agents/as-code/",
  "plugins/ai/api-media/",
  "plugins/ai/calls/",
  "plugins/ai/model.ts",
  "plugins/ai/cache/response-cache.ts",
  "plugins/agent-models/",
  "plugins/auth/model.ts",
  "plugins/client-chats/",
  "plugins/interaction/",
  "plugins/mcp-server/model.ts",
  "plugins/openai-api/",
  "plugins/privacy/",
  "plugins/provisioning/",
  "plugins/runtime/message-routes.ts",
  "plugins/runtime/model.ts",
  "plugins/sandbox/",
  "plugins/social/",
  "src/cluster/accounts/",
  "src/server/commands/remote/",
  "plugins/lifecycle/import-export/",
  "plugins/channels/access/access-decision.ts",
  "plugins/skill-folders/reading/",
  "plugins/skill-folders/routes.ts",
];
/** What looks like a sentence in the source and is none, and rules of values that pages choose from a list. */
const NOT_SHOWN = [
  /^[a-z_]*$|^[A-Z_]+$|^\d+$|^[\w.]* ?a?\.?status = |^AND /,
  /^The (status|scope|decision|range|action|type|template|tier|method) is/,
  /^The types are a list|^Leave it out, or give `all`|nextCursor|`before`|`next`|`register`|id of a line|id of the session|^enabled is/,
  /^(Give model or agent|Give the path of a backup|Give the URL that you pay for|A {} has no body|{} {}|Leaving|Give a message of 1 to)/,
  // Of the command line.
  /--reason/,
];

const { sentences, texts } = await sentencesInSource();
const described = allSettings.flatMap(({ variables }) => Object.values(variables));
const meanings = described.map(({ description }) => description.replace(/(?<=provider )\d/, "{}"));

describe.each(TRANSLATED)("the language %s", async (language) => {
  const { server: tables, notes, calls } = await readTranslation(language);
  const server = { ...tables, notes, calls };
  const known = new Set(Object.values(server).flatMap((table) => Object.keys(table).map(shapeOf)));

  test("has every sentence of the server that pages show", () => {
    const missing = sentences.filter(
      ({ where, shape }) =>
        !known.has(shape) &&
        !ELSEWHERE.some((folder) => where.includes(folder)) &&
        !NOT_SHOWN.some((pattern) => pattern.test(shape)),
    );
    expect(sentences.length).toBeGreaterThan(300);
    expect(missing).toEqual([]);
  });

  test("has the meaning of every setting", () => {
    expect(meanings.length).toBeGreaterThan(90);
    expect(meanings.filter((meaning) => !known.has(meaning))).toEqual([]);
  });

  test("has no sentence that the server does not say", () => {
    expect([...known].filter((shape) => !texts.has(shape) && !meanings.includes(shape))).toEqual([]);
  });

  test("has the same places in each", () => {
    const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join();
    const different = Object.values(server).flatMap((table) =>
      Object.entries<string>(table).filter(([english, other]) => places(english) !== places(other)),
    );
    expect(different).toEqual([]);
  });
});
