// Declares the types of files that the bundler embeds as text or as a path.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.htm" {
  const text: string;
  export default text;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.wasm" {
  const path: string;
  export default path;
}
declare module "*.ttf" {
  const path: string;
  export default path;
}
declare module "*/marked.umd.js" {
  const path: string;
  export default path;
}
declare module "*/standalone.js" {
  const path: string;
  export default path;
}
/** The console's files, which web/build/build.ts writes: by name, the paths of the two compressed forms. */
declare module "*/dist/web/assets.js" {
  export const assets: Readonly<Record<string, { type: string; br: string; gz: string }>>;
}
/** It has no types of its own: rules for tables, task lists and struck text. */
declare module "@joplin/turndown-plugin-gfm" {
  export const gfm: (service: import("turndown")) => void;
}
