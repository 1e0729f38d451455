// Modules that the build provides.
declare module "berth:texts" {
  type Loader = () => Promise<import("./viewer/language.ts").AreaTexts>;
  /** By language, then by area. */
  export const loaders: Readonly<Record<string, Readonly<Record<string, Loader>>>>;
}
declare module "*.css" {}
