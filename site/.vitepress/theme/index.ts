// VitePress's own theme without its fonts: pages use those of the system.
import theme from "vitepress/theme-without-fonts";
import "./theme.css";

export default theme;
