// Makes docs/configuration.md from the declared variables.

import type { Default, VariableGroup } from "./variable.ts";

/** The page: one row for each variable and those that repeat it, in the order of the groups. */
export function configurationPage(groups: readonly VariableGroup[]): string {
  const variables = groups.flatMap((group) => Object.entries(group.variables));
  const rows = variables.flatMap(([name, { description, defaultValue, parser, repeats }]) => {
    if (repeats !== undefined) return [];
    const repetitions = variables.filter(([, variable]) => variable.repeats === name).map(([other]) => other);
    return `| ${formatNames(name, repetitions)} | ${formatDefault(defaultValue)} | ${escapeCell(description)} | ${escapeCell(parser.allowed)} |`;
  });
  return `# Configuration

Every setting is an environment variable, and none is required. A \`.env\` file in the working directory is read by every
command alike; the real environment wins, and an empty value counts as not set. \`berth doctor\` shows what is in force.

<!-- Made by \`bun src/server/configuration-page.ts\` from the sections in src/server/settings.ts. -->

| Variable | Default | Meaning | Allowed |
|---|---|---|---|
${rows.join("\n")}
`;
}

const formatNames = (name: string, repetitions: string[]) =>
  repetitions.length === 0 ? `\`${name}\`` : `\`${name}\`; \`${repetitions[0]}\` to \`${repetitions.at(-1)}\``;

const escapeCell = (text: string) => text.replaceAll("|", "\\|");

function formatDefault(defaultValue: Default | undefined): string {
  if (defaultValue === undefined) return "not set";
  if (typeof defaultValue !== "string") return escapeCell(defaultValue.description);
  return defaultValue === "" ? "empty" : `\`${escapeCell(defaultValue)}\``;
}
