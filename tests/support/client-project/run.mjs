// Runs the scenario under Node, Bun or Deno: `run.mjs JSON`.
import { scenario } from "./scenario.js";

const [given] = globalThis.Deno ? globalThis.Deno.args : globalThis.process.argv.slice(2);
console.log(JSON.stringify(await scenario(JSON.parse(given))));
