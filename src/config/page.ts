// docs/configuration.md, made from the table of variables: `bun src/config/page.ts` writes it, a test says when it is old.

import { join } from "node:path";
import { type Default, table, variableNames } from "./table.ts";

export const pagePath = join(import.meta.dir, "../../docs/configuration.md");

/** The page as it should be. */
export function configurationPage(): string {
  const rows = variableNames.map((name) => {
    const { about, fallback, parser } = table[name];
    return `| \`${name}\` | ${inWords(fallback)} | ${cell(about)} | ${cell(parser.allowed)} |`;
  });
  return `# Configuration

Every setting is an environment variable, and none is required. A \`.env\` file in the working directory is read by every
command alike; the real environment wins, and an empty value counts as not set. \`berth doctor\` shows what is in force.

<!-- Made by \`bun src/config/page.ts\` from src/config/table.ts. -->

| Variable | Default | Meaning | Allowed |
|---|---|---|---|
${rows.join("\n")}
`;
}

const cell = (text: string) => text.replaceAll("|", "\\|");

function inWords(fallback: Default | undefined): string {
  if (fallback === undefined) return "not set";
  if (typeof fallback !== "string") return cell(fallback.says);
  return fallback === "" ? "empty" : `\`${cell(fallback)}\``;
}

if (import.meta.main) await Bun.write(pagePath, configurationPage());
