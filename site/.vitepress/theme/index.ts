// VitePress's own theme without its fonts: pages use those of the system. The search gets its options here, because they are functions.
import type { Theme } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { searchOptions } from "../../search-terms.ts";
import "./theme.css";

export default {
  extends: theme,
  enhanceApp({ siteData }) {
    siteData.value.themeConfig.search.options.miniSearch = { searchOptions };
  },
} satisfies Theme;
