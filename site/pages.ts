// Lists the pages of the documentation in the order of the sidebar. A page under docs/ that is missing here fails a test.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..");

/** A page's path in the project, or the path with a shorter name than its heading. */
export type Row = string | readonly [path: string, name: string];

export interface Section {
  name: string;
  rows: readonly Row[];
}

export const SECTIONS: readonly Section[] = [
  {
    name: "Start",
    rows: [
      ["docs/README.md", "Overview"],
      "docs/start.md",
      "docs/first-agent.md",
      ["docs/api-tour.md", "A tour with curl"],
    ],
  },
  {
    name: "Agents",
    rows: [
      ["docs/memory.md", "Memory"],
      ["docs/files.md", "Files and knowledge"],
      ["docs/schedules.md", "Schedules"],
      ["docs/tools.md", "Tools"],
      ["docs/skills.md", "Skills"],
      ["docs/mcp.md", "MCP"],
      ["docs/a2a.md", "Agents that ask each other"],
      ["docs/approvals.md", "Approvals"],
      ["docs/voice.md", "Voice"],
      ["docs/sent-files.md", "Pictures and files"],
      ["docs/wallets.md", "Wallets"],
      ["docs/streams.md", "Live streams"],
      ["docs/import.md", "Import"],
    ],
  },
  {
    name: "Channels and sites",
    rows: [
      "docs/telegram.md",
      ["docs/channels.md", "All channels"],
      ["docs/slack.md", "Slack"],
      ["docs/email.md", "Email"],
      ["docs/embed.md", "Embed on a site"],
      ["docs/gateway.md", "WebSocket and public page"],
      ["docs/gating.md", "Gates and identities"],
      ["docs/verification.md", "Verification"],
    ],
  },
  {
    name: "Clients",
    rows: [
      ["docs/client.md", "JavaScript client"],
      ["docs/openai-api.md", "OpenAI and Anthropic SDKs"],
      ["docs/agents-as-models.md", "Agents as models"],
      ["docs/remote-commands.md", "Commands from afar"],
      ["docs/agent-as-code.md", "Agent as code"],
      ["docs/webhooks.md", "Webhooks and events"],
    ],
  },
  {
    name: "Operate",
    rows: [
      ["docs/operating.md", "Install, secure, monitor"],
      ["docs/billing.md", "Plans and billing"],
      "docs/backups.md",
      ["docs/deploy.md", "Deployment"],
      ["docs/privacy.md", "Privacy"],
      ["docs/monitoring.md", "Monitoring"],
      "docs/upgrade.md",
      ["docs/security.md", "Security"],
      ["docs/cluster.md", "Cluster"],
      ["docs/sign-in.md", "Sign-in providers"],
      ["docs/benchmarks.md", "Benchmarks"],
    ],
  },
  {
    name: "Reference",
    rows: [
      ["docs/api.md", "API"],
      ["docs/agents.md", "Agent configuration"],
      ["docs/configuration.md", "Settings"],
      ["docs/events.md", "Events"],
      ["docs/errors.md", "Error codes"],
      ["docs/cli.md", "Command line"],
    ],
  },
  { name: "Concepts", rows: ["docs/concepts.md", "docs/glossary.md", "docs/architecture.md"] },
  {
    name: "Extend and contribute",
    rows: [
      ["docs/plugins.md", "Write a plugin"],
      "CONTRIBUTING.md",
      "docs/style.md",
      ["web/README.md", "Console"],
      ["web/design.md", "Design of the console"],
      ["SECURITY.md", "Report a vulnerability"],
      ["CHANGELOG.md", "Changelog"],
      ["docs/decisions/README.md", "Decisions"],
    ],
  },
];

/** They have a sidebar of their own. */
export const DECISIONS: Section = {
  name: "Decisions",
  rows: [
    ["docs/README.md", "← Documentation"],
    ["docs/decisions/README.md", "About decisions"],
    ...[...new Bun.Glob("docs/decisions/[0-9]*.md").scanSync(root)].sort(),
  ],
};

/** Pages that may be missing: they belong to capabilities that a build can lack. A missing page of another name fails a test. */
export const AWAITED: readonly string[] = [];

export const pathOf = (row: Row): string => (typeof row === "string" ? row : row[0]);
export const exists = (path: string): boolean => existsSync(join(root, path));

/** All pages whose blocks tests run: those of the site, and what a repository's and a package's front page shows. */
export const pagesWithBlocks = () => [...listedPages(), "README.md", "packages/client/README.md"];

/** The paths of all pages, without those that are awaited. */
export function listedPages(): string[] {
  const paths = [...SECTIONS, DECISIONS].flatMap(({ rows }) => rows.map(pathOf));
  return [...new Set(paths)].filter((path) => !AWAITED.includes(path) || exists(path));
}

/** Pages outside docs/, by their names on the site. */
const NAMES: Readonly<Record<string, string>> = {
  "docs/README.md": "index",
  "docs/decisions/README.md": "decisions/index",
  "CONTRIBUTING.md": "contributing",
  "SECURITY.md": "security",
  "CHANGELOG.md": "changelog",
  "web/README.md": "console",
  "web/design.md": "console-design",
};

/** The name of a page on the site, which is its address below /docs/: `memory`. Undefined for what is no page of it. */
export function nameOf(path: string): string | undefined {
  if (NAMES[path] !== undefined) return NAMES[path];
  return path.startsWith("docs/") && path.endsWith(".md") ? path.slice("docs/".length, -".md".length) : undefined;
}

/** What the sidebar and links call a page: the name in its row, or its first heading. */
export function titleOf(path: string): string {
  const row = [...SECTIONS, DECISIONS].flatMap(({ rows }) => rows).find((one) => pathOf(one) === path);
  if (row !== undefined && typeof row !== "string") return row[1];
  return (/^# (.+)$/m.exec(readFileSync(join(root, path), "utf8"))?.[1] ?? path).replaceAll("`", "");
}
