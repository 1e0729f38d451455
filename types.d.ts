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
/** Recorded examples of the API, which are read when its document is made. */
declare module "*.examples.jsonl" {
  const path: string;
  export default path;
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
/** The console's files, which web/build/build.ts writes: by name, the paths of the two compressed forms. */
declare module "*/dist/web/assets.js" {
  export const assets: Readonly<Record<string, { type: string; br: string; gz: string }>>;
  /** embed.js; the hash is of its content. */
  export const embed: Readonly<{ hash: string; br: string; gz: string }>;
}
/**
 * The documentation's files, which site/build.ts writes: all in `pack`, by name where each begins and ends in it and a hash of
 * its content; `scripts` are the hashes of the pages' inline scripts, as policies name them.
 */
declare module "*/dist/site/site.js" {
  export const pack: string;
  export const files: Readonly<Record<string, readonly [start: number, end: number, hash: string]>>;
  export const scripts: readonly string[];
}
/** It has no types of its own: rules for tables, task lists and struck text. */
declare module "@joplin/turndown-plugin-gfm" {
  export const gfm: (service: import("turndown")) => void;
}
/** The part of it that Berth uses; it has no types of its own. http://pdfmake.org */
declare module "pdfmake" {
  export interface TextContent {
    text: string;
    font?: string;
    link?: string;
    color?: string;
    decoration?: ("underline" | "lineThrough")[];
  }
  interface Look {
    alignment?: string;
    color?: string;
    fillColor?: string;
    fontSize?: number;
    /** Points: left, top, right, bottom. */
    margin?: [number, number, number, number];
    headlineLevel?: number;
    preserveLeadingSpaces?: boolean;
  }
  type TableLayout = Record<string, number | string | ((n: number) => number | string)>;
  export type Content = Look &
    (
      | { text: string | TextContent[] }
      | { stack: Content[] }
      | { ul: Content[] }
      | { ol: Content[]; start: number }
      | { table: { headerRows?: number; widths: ("auto" | "*")[]; body: Content[][] }; layout: TableLayout }
      | { canvas: Record<string, number | string>[] }
    );
  interface DocumentDefinition {
    content: Content[];
    info: { title: string };
    pageSize: string;
    pageMargins: number;
    defaultStyle: Record<string, number | string>;
    footer(page: number, pages: number): Content | string;
  }
  const pdfmake: {
    readonly virtualfs: { writeFileSync(name: string, bytes: Uint8Array): void };
    addFonts(fonts: Record<string, { normal: string }>): void;
    setUrlAccessPolicy(isAllowed: (url: string) => boolean): void;
    setLocalAccessPolicy(isAllowed: (path: string) => boolean): void;
    createPdf(definition: DocumentDefinition): { getBuffer(): Promise<Uint8Array> };
  };
  export default pdfmake;
}
/** The part of it that Berth uses; it has no types of its own. */
declare module "fontkit" {
  export interface Font {
    hasGlyphForCodePoint(codePoint: number): boolean;
  }
  export function create(bytes: Uint8Array): Font;
}
/** A package without types of its own: as far as tests use it. */
declare module "s3rver" {
  export default class S3rver {
    constructor(options: {
      port: number;
      address: string;
      directory: string;
      silent: boolean;
      configureBuckets: { name: string; configs: string[] }[];
    });
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
