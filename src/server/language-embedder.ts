// Embeds the server's part of each language's file in the binary, without the console's, which is in its own assets.
import type { BunPlugin } from "bun";
import { TRANSLATED } from "../../web/languages/languages.ts";
import { readTranslation } from "../../web/languages/read-translation.ts";
import type { ServerTexts, Translation } from "../../web/languages/translation.ts";

/** Puts a module with all languages in the place of the one that reads files. Parses none of them before it is asked for. */
export const languageEmbedder: BunPlugin = {
  name: "embed-languages",
  setup(build) {
    build.onLoad({ filter: /[\\/]kernel[\\/]pages[\\/]server-texts\.ts$/ }, async () => {
      const rows = await Promise.all(
        TRANSLATED.map(async (code) => {
          const texts = serverPart(await readTranslation(code));
          return `${code}: () => ${JSON.stringify(JSON.stringify(texts))}`;
        }),
      );
      const contents = `const texts = { ${rows.join(", ")} };\nexport const readServerTexts = (language) => JSON.parse(texts[language]());`;
      return { contents, loader: "js" };
    });
  },
};

const serverPart = ({ notes, calls, pages, pageErrors, mails, templates }: Translation): ServerTexts => ({
  notes,
  calls,
  pages,
  pageErrors,
  mails,
  templates,
});
