// Runs the shell blocks and whole programs of every page of the documentation against the compiled binary, as a reader would:
// in the order of the page, in one shell, in an empty folder. What the page shows of their output has to be what they print.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Ajv from "ajv";
import { type CodeBlock, readPage } from "../../site/page.ts";
import { pagesWithBlocks } from "../../site/pages.ts";
import type { Berth } from "../support/berth.ts";
import type { Client } from "../support/client.ts";
import { natsBinary } from "../support/nats.ts";
import { run, temporaryDir } from "../support/process.ts";
import { outputDifference } from "../support/shown-output.ts";
import { openShell } from "./shell-session.ts";
import { AFTER, BEFORE, SCRIPTS, withStandIns } from "./stand-ins.ts";
import { binary, openWorld, preparePage, signInAsAda, type World } from "./world.ts";

/** Blocks whose second word is the name of their file. */
const FILES = ["js", "ts", "json", "markdown"];
/** A block that ends with it stops the service if one runs, does what is before it, and starts one that the blocks behind it use. */
const SERVE = /^\.\/(?:dist\/)?berth(?:-old)? serve\b *(.*)$/m;

const isRun = ({ reason, testedBy }: CodeBlock) => (reason ?? testedBy) === undefined;
const pages = pagesWithBlocks()
  .map((path) => readPage(path))
  .map(({ path, blocks }) => ({ path, blocks: blocks.filter(isRun) }))
  .filter(({ blocks }) => blocks.some(({ language }) => language === "sh"));
const startsItself = (blocks: readonly CodeBlock[]) => blocks.some((block) => isServe(block));
const isServe = ({ language, code }: CodeBlock) => language === "sh" && SERVE.test(code);

type Content = Record<string, { schema: object }>;
interface ApiDocument {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: Content }; responses?: Record<string, { content?: Content }> }>
  >;
  components: object;
}

let world: World;
let berth: Berth;
let ada: Client;
beforeAll(async () => {
  world = await openWorld();
  berth = await world.start(temporaryDir().path);
  ada = await signInAsAda(berth);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

let bots = 0;
/** A bot of the page's own: a bot serves one agent. */
function newBot(): string {
  const token = `${700_001 + ++bots}:${"token-of-a-bot-of-a-page".padEnd(35, "x")}`;
  world.telegram.addBot(token);
  return token;
}

describe("with a running service", () => {
  test.each(pages.filter(({ blocks }) => !startsItself(blocks)))("$path", async ({ path, blocks }) => {
    const folder = temporaryDir();
    const botToken = newBot();
    world.upstream.script(undefined);
    const own = await preparePage(ada, folder.path, path);
    const agent = own.AGENT ?? "";
    const more = await BEFORE[path]?.(ada, agent, world);
    const address = { BASE: berth.web, BERTH: berth.web, BASE_URL: berth.web, BERTH_URL: berth.web };
    const env = {
      ...world.env,
      ...berth.env,
      TELEGRAM_TOKEN: botToken,
      BERTH_KEY: own.KEY ?? "",
      DATA_DIR: join(berth.dir, "data"),
      ...address,
      ...own,
      ...more,
    };
    await using shell = openShell(folder.path, binary, env, {
      "pairing-code": `#!/bin/sh\nexec curl -s "${world.origin}/pairing-code?token=${botToken}"\n`,
    });
    const place = { origin: berth.web, backend: berth.backend, agent, botToken, otherBotToken: newBot() };
    const runBlock = blockRunner(shell, folder.path, (code) => withStandIns(code, place, world));
    for (const block of blocks) await runBlock(block);
  });
});

describe("from an empty folder", () => {
  test.each(pages.filter(({ blocks }) => startsItself(blocks)))("$path", async ({ path, blocks }) => {
    const folder = temporaryDir();
    const botToken = newBot();
    world.upstream.script(undefined);
    await using shell = openShell(
      folder.path,
      binary,
      { ...world.env },
      {
        "pairing-code": `#!/bin/sh\nexec curl -s "${world.origin}/pairing-code?token=${botToken}"\n`,
      },
    );
    let own: Berth | undefined;
    const resolve = (code: string) => {
      const [origin, backend] = [own?.web ?? "", own?.backend ?? ""];
      return withStandIns(code, { origin, backend, agent: "", botToken, otherBotToken: "" }, world);
    };
    SCRIPTS[path]?.(world);
    const runBlock = blockRunner(shell, folder.path, resolve);
    try {
      for (const block of blocks) {
        const serve = isServe(block) ? SERVE.exec(block.code) : undefined;
        if (!serve) await runBlock(block);
        else {
          if (own) await own.stop();
          await runBlock({ ...block, code: block.code.slice(0, serve.index) });
          const settings = Object.fromEntries(
            [...block.code.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
          );
          const args = (serve[1] ?? "")
            .replace(/[&#].*$/, "")
            .split(" ")
            .filter(Boolean);
          own = await world.start(folder.path, args, settings);
          // Readers have it at its own port, which `berth health` asks.
          await shell.run(`export PORT=${new URL(own.web).port}`);
        }
      }
    } finally {
      await own?.[Symbol.asyncDispose]();
      folder.remove();
    }
    expect({ path, started: own !== undefined }).toEqual({ path, started: true });
    AFTER[path]?.(world);
  });
});

describe("blocks that are no commands", () => {
  const blocks = pagesWithBlocks()
    .flatMap((path) => readPage(path).blocks)
    .filter(isRun);

  test("bodies and answers of requests have the shape that the API document says", async () => {
    const document = (await (await fetch(`${berth.web}/swagger/json`)).json()) as ApiDocument;
    const { paths, components } = document;
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: "api", components });
    const examples = blocks.filter(({ marks: [kind] }) => kind === "body" || kind === "response");
    expect(examples.length).toBeGreaterThan(0);
    for (const { page, line, marks, code } of examples) {
      const [kind = "", method = "", path = ""] = marks;
      const operation = paths[path]?.[method.toLowerCase()];
      const content = kind === "body" ? operation?.requestBody?.content : operation?.responses?.["200"]?.content;
      const schema = content?.["application/json"]?.schema;
      if (!schema) throw new Error(`${page}:${line}: ${method} ${path} has no such ${kind}.`);
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
      expect({ at: `${page}:${line}`, valid: validate(JSON.parse(code)), errors: validate.errors }).toMatchObject({
        valid: true,
      });
    }
  });

  test("the configuration of NATS is one that it accepts", async () => {
    const configurations = blocks.filter(({ language }) => language === "conf");
    expect(configurations.length).toBeGreaterThan(0);
    const { path: dir } = temporaryDir();
    for (const { code } of configurations) {
      writeFileSync(join(dir, "nats.conf"), code);
      const { exitCode, stdout, stderr } = await run([natsBinary(), "-t", "-c", "nats.conf"], {}, dir);
      expect({ exitCode, output: exitCode === 0 ? "" : stdout + stderr }).toEqual({ exitCode: 0, output: "" });
    }
  });
});

/**
 * Makes a function that takes the blocks of a page in turn: it runs a shell block, writes a block with a file's name to the page's
 * folder, and compares a block of text with the output of the shell block before it.
 */
function blockRunner(shell: ReturnType<typeof openShell>, dir: string, resolve: (code: string) => string) {
  let output = "";
  return async ({ page, line, language, marks: [name], code }: CodeBlock): Promise<void> => {
    try {
      if (language === "sh") output = await shell.run(resolve(code));
      else if (name?.includes(".") && FILES.includes(language)) {
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), `${resolve(code)}\n`);
      } else if (language === "text") {
        const difference = outputDifference(resolve(code), output);
        if (difference !== undefined) throw new Error(difference);
      }
    } catch (error) {
      throw new Error(`${page}:${line}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };
}
