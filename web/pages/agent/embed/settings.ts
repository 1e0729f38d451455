// What the configuration says of the chat on other sites, and how it is changed.

export type Theme = "auto" | "light" | "dark";

/** The key `embed` (plugins/agents/configuration/nested-settings.ts). */
export interface EmbedSettings {
  origins: readonly string[];
  greeting: string;
  /** `#rrggbb`; undefined for Berth's own colour. */
  accent: string | undefined;
  theme: Theme;
}

export const BERTH_ACCENT = "#0b6e8a";

export function embedOf({ embed }: Record<string, unknown>): EmbedSettings {
  const stored = (typeof embed === "object" && embed !== null ? embed : {}) as Partial<EmbedSettings>;
  const { origins = [], greeting = "", accent, theme = "auto" } = stored;
  return { origins: Array.isArray(origins) ? origins : [], greeting, accent, theme };
}

/** The configuration with changes of the chat; members that nobody set are left out. */
export function withEmbed(config: Record<string, unknown>, changes: Partial<EmbedSettings>): Record<string, unknown> {
  const { embed: stored, ...rest } = config;
  const { greeting, accent, theme, origins } = { ...embedOf(config), ...changes };
  const embed = {
    ...(typeof stored === "object" && stored),
    origins: origins.length > 0 ? origins : undefined,
    greeting: greeting === "" ? undefined : greeting,
    accent,
    theme: theme === "auto" ? undefined : theme,
  };
  const said = Object.entries(embed).filter(([, value]) => value !== undefined);
  return said.length === 0 ? rest : { ...rest, embed: Object.fromEntries(said) };
}

/** Written without a scheme, it is a site that is being tried out, which has no certificate. */
const ON_THIS_MACHINE = /^(?:localhost|127\.0\.0\.1)(?=[:/]|$)/i;

/** The origin of an address as people write it; undefined if a chat can't be there: only https, or http on this machine. */
export function originOf(text: string): string | undefined {
  const address = text.trim();
  const scheme = ON_THIS_MACHINE.test(address) ? "http" : "https";
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(address) ? address : `${scheme}://${address}`);
  const isSafe =
    url?.protocol === "https:" || (url?.protocol === "http:" && ["localhost", "127.0.0.1"].includes(url.hostname));
  return url && isSafe && /^[a-z\d.-]+$/.test(url.hostname) ? url.origin : undefined;
}

const attribute = (value: string) => value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The element that a site puts into its pages. */
export const scriptSnippet = (berth: string, agent: string) =>
  `<script src="${attribute(berth)}/embed.js" data-agent="${attribute(agent)}" async></script>`;

/** As wide as its place, so that it fits on a phone. Attributes in place of styles, which a policy may forbid. */
export const frameSnippet = (berth: string, agent: string, title: string) =>
  `<iframe src="${attribute(berth)}/embed/${attribute(agent)}" title="${attribute(title)}" width="100%" height="576" frameborder="0"></iframe>`;

/** What a site with a content security policy adds to it. */
export const policySnippet = (berth: string) => `script-src ${berth}; connect-src ${berth}; frame-src ${berth}`;
