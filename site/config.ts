// Configures VitePress: plain Markdown without HTML or Vue, no inline style, and nothing that comes from another address.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme, UserConfig } from "vitepress";
import { collectCodeStyles } from "./code-styles.ts";
import { markdownRules, slugOf } from "./markdown.ts";
import { DECISIONS, listedPages, nameOf, pathOf, type Row, root, SECTIONS, type Section, titleOf } from "./pages.ts";
import { searchSections } from "./search.ts";

/** The address of the site on the service. */
export const BASE = "/docs/";
const built = join(root, "dist/site");
const listed = new Set(listedPages());
const codeStyles = collectCodeStyles();

const itemOf = (row: Row): DefaultTheme.SidebarItem => ({
  text: titleOf(pathOf(row)),
  link: `/${nameOf(pathOf(row)) ?? ""}`.replace(/\/index$/, "/"),
});

const sidebarOf = (sections: readonly Section[]): DefaultTheme.SidebarItem[] =>
  sections.map(({ name, rows }) => ({ text: name, items: rows.filter((row) => listed.has(pathOf(row))).map(itemOf) }));

export const config: UserConfig<DefaultTheme.Config> = {
  title: "Berth",
  description: "Documentation of Berth, which hosts AI agents in one binary",
  lang: "en",
  base: BASE,
  srcDir: join(built, "source"),
  outDir: join(built, "html"),
  cacheDir: join(root, "node_modules/.cache/vitepress"),
  cleanUrls: true,
  // The table of pages' hashes is a file instead of an inline script.
  metaChunk: true,
  // The switch of themes would add a style element for a moment, which the policy refuses.
  appearance: { disableTransition: false },
  head: [
    ["link", { rel: "icon", href: `${BASE}icon.svg` }],
    ["link", { rel: "stylesheet", href: `${BASE}code.css` }],
  ],
  markdown: {
    html: false,
    attrs: { disable: true },
    anchor: { slugify: slugOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    languageAlias: { conf: "ini" },
    codeTransformers: [codeStyles.transformer],
    config: markdownRules,
  },
  // What is not on a page's way before it is shown: neither its links nor the index of the search is fetched ahead.
  shouldPreload: (link) => !link.includes("localSearchIndex"),
  buildEnd: () => writeFileSync(join(built, "html/code.css"), codeStyles.css()),
  themeConfig: {
    sidebar: { "/decisions/": sidebarOf([DECISIONS]), "/": sidebarOf(SECTIONS) },
    nav: [
      { text: "Start", link: "/start" },
      { text: "API", link: "/api" },
      { text: "Settings", link: "/configuration" },
      { text: "Plugins", link: "/plugins" },
    ],
    outline: [2, 3],
    externalLinkIcon: true,
    search: { provider: "local", options: { detailedView: false, miniSearch: { _splitIntoSections: searchSections } } },
    notFound: {
      title: "There is no such page",
      quote: "It may have another name now. The search finds it by its words.",
      linkLabel: "To the documentation",
      linkText: "To the documentation",
    },
    docFooter: { prev: "Before", next: "Next" },
  },
};
