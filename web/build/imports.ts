// Replaces each `import()` of the built files by a call of `berthImport` (api/load-code.ts), and writes into the page which files
// each of them needs.

export interface OutputFile {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const FOLDER = "/assets/";
const DYNAMIC = /\bimport\("(\/assets\/[^"]+)"\)/g;

/** Changes the scripts and index.html in place. Throws if an `import()` is written in another way, and would stay as it is. */
export function replaceImports(files: readonly OutputFile[]): void {
  const transpiler = new Bun.Transpiler({ loader: "js" });
  const scripts = new Map<string, { needs: string[]; opens: string[] }>();
  for (const file of files.filter(({ name }) => name.endsWith(".js"))) {
    const found = transpiler.scanImports(file.bytes);
    const pathsOf = (kind: string) => found.filter((one) => one.kind === kind).map(({ path }) => path);
    const opens = pathsOf("dynamic-import");
    scripts.set(FOLDER + file.name, { needs: pathsOf("import-statement"), opens });
    const source = decode(file);
    const replaced = new Set([...source.matchAll(DYNAMIC)].map(([, path]) => path));
    const left = opens.filter((path) => !replaced.has(path));
    if (left.length > 0) throw new Error(`${file.name} imports ${left.join(", ")} in a way that is not known.`);
    encode(file, source.replace(DYNAMIC, 'berthImport("$1")'));
  }

  const page = files.find(({ name }) => name === "index.html");
  const entry = page && /<script [^>]*src="([^"]+)"/.exec(decode(page))?.[1];
  if (!page || !entry) throw new Error("The console has no page with a script.");
  const closure = (path: string, seen = new Set<string>()): Set<string> => {
    for (const need of scripts.get(path)?.needs ?? []) if (!seen.has(need)) closure(need, seen.add(need));
    return seen;
  };
  // They are there as long as the page is.
  const own = closure(entry).add(entry);
  const opened = [...new Set([...scripts.values()].flatMap(({ opens }) => opens))];
  const needs = opened.map((path) => [path, [...closure(path)].filter((need) => !own.has(need))] as const);
  const names = [...new Set(needs.flatMap(([, paths]) => paths))];
  const places = needs.map(([path, paths]) => [path, paths.map((need) => names.indexOf(need))]);
  // Nothing in it ends the element: names of files have no "<".
  const data = JSON.stringify({ files: names, needs: Object.fromEntries(places) });
  encode(page, decode(page).replace("</head>", `<script type="application/json" id="imports">${data}</script></head>`));
}

const decode = ({ bytes }: OutputFile): string => new TextDecoder().decode(bytes);

function encode(file: OutputFile, text: string): void {
  file.bytes = new TextEncoder().encode(text);
}
