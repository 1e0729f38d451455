// Builds the console, and the libraries it uses, with Preact in place of React: the same interface in an eighth of the size.

import type { BunPlugin } from "bun";

/** What is imported, and the module of Preact that has the same exports. */
const MODULES: Readonly<Record<string, string>> = {
  react: "preact/compat",
  "react-dom": "preact/compat",
  "react-dom/client": "../app/preact-client.ts",
  "react/jsx-runtime": "preact/jsx-runtime",
  "react/jsx-dev-runtime": "preact/jsx-runtime",
};

export const preactPlugin: BunPlugin = {
  name: "berth-preact",
  setup(build) {
    build.onResolve({ filter: /^react(-dom)?(\/.*)?$/ }, ({ path, importer }) => {
      const module = MODULES[path];
      if (!module) throw new Error(`${importer} imports ${path}, for which Preact has no module.`);
      return { path: Bun.resolveSync(module, import.meta.dir) };
    });
  },
};
