// Writes the tables of docs/channels.md from the registry: `bun channels/documentation.ts`. A test fails when they are
// out of date.
import { join } from "node:path";
import { channelDefinitions } from "./registry.ts";

export const pagePath = join(import.meta.dir, "../docs/channels.md");

/** The page with its generated tables replaced; only the text between the markers changes. */
export function renderChannelsPage(page: string): string {
  return Object.entries({ channels: channelTable(), provisioning: provisioningTable() }).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name}: made by [^\\n]*-->\\n).*?(<!-- end of ${name} -->)`, "s"),
        (_, start: string, end: string) => `${start}\n${table}\n\n${end}`,
      ),
    page,
  );
}

/** How each channel is connected. */
export function channelTable(): string {
  const rows = channelDefinitions().map(
    ({ id, label, documentation: { token, ownerId, receiving } }) =>
      `| ${label} (\`${id}\`) | ${token} | ${ownerId} | ${receiving} |`,
  );
  return ["| Channel | Token | `ownerId` | How messages arrive |", "|---|---|---|---|", ...rows].join("\n");
}

/** The fields of `POST /api/provision`. */
export function provisioningTable(): string {
  const fields = channelDefinitions().flatMap(({ label, provisioning }) =>
    provisioning ? [{ label, ...provisioning }] : [],
  );
  const owners = fields.flatMap(({ label, owner }) =>
    owner ? [`| \`${owner.field}\` (\`${owner.alias}\`) | the owner's id on ${label} |`] : [],
  );
  return [
    "| Field | |",
    "|---|---|",
    `| ${fields.map(({ token }) => `\`${token.field}\``).join(", ")} | at least one. ${listOf(
      fields.map(({ token }) => `\`${token.alias}\``),
    )} mean the same; where both are given, the first name counts |`,
    ...owners,
    "| `aiProvider`, `apiKey` | the provider whose default model the agent uses (default `provider_1`), and a key for it that belongs to the agent |",
    "| `plan` | `free`, `pro` or `enterprise`: stored and returned; the agent's allowance follows its owner's subscription alone |",
  ].join("\n");
}

/** "a, b and c". */
const listOf = (names: string[]) => new Intl.ListFormat("en-GB").format(names);

if (import.meta.main) await Bun.write(pagePath, renderChannelsPage(await Bun.file(pagePath).text()));
