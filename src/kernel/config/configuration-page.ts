// docs/configuration.md, made from the table of variables: `bun src/kernel/config/configuration-page.ts` writes it, a test says when it is old.

import { join } from "node:path";
import { type Default, variableNames, variables } from "./variables.ts";

export const pagePath = join(import.meta.dir, "../../../docs/configuration.md");

/** The page as it should be. */
export function configurationPage(): string {
  const rows = variableNames.map((name) => {
    const { description, defaultValue, parser } = variables[name];
    return `| \`${name}\` | ${formatDefault(defaultValue)} | ${escapeCell(description)} | ${escapeCell(parser.allowed)} |`;
  });
  return `# Configuration

Every setting is an environment variable, and none is required. A \`.env\` file in the working directory is read by every
command alike; the real environment wins, and an empty value counts as not set. \`berth doctor\` shows what is in force.

<!-- Made by \`bun src/kernel/config/configuration-page.ts\` from src/kernel/config/variables.ts. -->

| Variable | Default | Meaning | Allowed |
|---|---|---|---|
${rows.join("\n")}
`;
}

const escapeCell = (text: string) => text.replaceAll("|", "\\|");

function formatDefault(defaultValue: Default | undefined): string {
  if (defaultValue === undefined) return "not set";
  if (typeof defaultValue !== "string") return escapeCell(defaultValue.description);
  return defaultValue === "" ? "empty" : `\`${escapeCell(defaultValue)}\``;
}

if (import.meta.main) await Bun.write(pagePath, configurationPage());
