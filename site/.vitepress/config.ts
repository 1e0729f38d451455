// The configuration of VitePress, which turns the staged pages into the site.
import { config } from "../config.ts";

export default config;
