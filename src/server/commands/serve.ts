// Runs `berth serve`: raises the limit of outgoing requests, serves, prints the next steps, and stops at a signal.
import { existsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Config, type Environment, environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { isLoopbackUrl } from "../../kernel/config/validation.ts";
import { redactForms } from "../../kernel/telemetry/redact.ts";
import { once } from "../../kernel/util/cache.ts";
import { openCLibrary } from "../c-library.ts";
import { dispatch } from "../control-socket.ts";
import type { RunningServer } from "../serve.ts";

/** Bun allows 256 outgoing requests at a time, unless this variable is set when the process starts. */
const MAX_REQUESTS_VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
const MAX_REQUESTS_VALUE = "65336";

/** The path of the program. A file that takes its place has it, too; asked later, the system would name the old file. */
const executable = process.execPath;

/** Returns -1: the process runs until a signal. */
export async function serveCommand(plugins: string[], readyFd: number | undefined): Promise<number> {
  const env = environment();
  const inherited = env.BERTH_INHERITED_SOCKETS
    ? (await import("../handover/inherited.ts")).takeInherited()
    : undefined;
  if (env[MAX_REQUESTS_VARIABLE] === undefined) await reexecute(env, readyFd);
  // Loaded only by the re-executed process.
  const { serve } = await import("../serve.ts");
  const program = { file: executable, args: argumentsOf(executable), env };
  let startedAt = 0;
  /** Loaded by the first command or signal. */
  const restarts = once(async () =>
    (await import("../handover/restarts.ts")).createRestarts({ running: () => running, program, startedAt, inherited }),
  );
  const pending: { upgrade?: Upgrade | undefined } = {};
  const options = {
    env,
    plugins,
    inherited,
    processCommand: async (name: string, args: Readonly<Record<string, string>>) =>
      dispatch((await restarts()).commands, name, args),
    async beforeStart(config: Config) {
      pending.upgrade = await openUpgrade(config);
      await pending.upgrade?.countStart(config, program, inherited);
    },
  };
  const running: RunningServer = await serve(options).catch(async (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    await pending.upgrade?.startPrevious(pending.upgrade.config, program, inherited, redactForms(why));
    throw error;
  });
  startedAt = Date.now();
  if (inherited) (await restarts()).logRestart();
  pending.upgrade?.confirmUpgrade(running.config, executable);

  const stop = (signal: string) => {
    process.stdout.write(
      `${signal}: finishing what is in flight (at most ${running.config.shutdownGraceMs / 1000} s)…\n`,
    );
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(redactForms(`berth: ${error instanceof Error ? error.message : String(error)}\n`));
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", () => stop("SIGTERM"));
  process.once("SIGINT", () => stop("SIGINT"));
  // In a terminal it means that the terminal was closed, which ends the program.
  if (!process.stdout.isTTY) process.on("SIGHUP", async () => (await restarts()).onSignal());
  if (readyFd !== undefined) writeSync(readyFd, `${JSON.stringify(running.addresses)}\n`);
  process.stdout.write(`\n  Berth is ready: ${formatAddresses(addressesForPeople(running))}\n`);
  process.stdout.write(`${await nextSteps(running)}\n\n`);
  return -1;
}

/** Undefined unless `berth upgrade` has put this program in place and it has not served yet. */
async function openUpgrade(config: Config) {
  if (!existsSync(join(config.dataDir, "upgrade.json"))) return undefined;
  const { unconfirmedUpgrade } = await import("../upgrade/record.ts");
  if (!unconfirmedUpgrade(config, executable)) return undefined;
  return { ...(await import("../upgrade/failed-start.ts")), config };
}
type Upgrade = NonNullable<Awaited<ReturnType<typeof openUpgrade>>>;

/**
 * Executes the program again in the same process (execve, about 5 ms), with the limit raised. In a compiled binary the
 * first argument is its internal path. Only the standard descriptors survive, so the descriptor for the ready line is
 * moved to standard input, which a server does not use.
 */
async function reexecute(env: Environment, readyFd: number | undefined): Promise<void> {
  if (readyFd !== undefined && readyFd > 2 && !(await moveToStandardInput(readyFd))) return;
  const args = ownArguments();
  const readyFdArgs = readyFd !== undefined && readyFd > 2 ? ["--ready-fd", "0"] : [];
  const command = [
    process.execPath,
    ...args,
    ...(args.length === 0 && readyFdArgs.length > 0 ? ["serve"] : []),
    ...readyFdArgs,
  ];
  process.execve?.(process.execPath, command, { ...env, [MAX_REQUESTS_VARIABLE]: MAX_REQUESTS_VALUE });
}

/** In a compiled binary the first argument is its internal path. */
const ownArguments = () => process.argv.slice(process.argv[1]?.startsWith("/$bunfs/") ? 2 : 1);

/** The arguments with which the program is executed again: the line that says it is ready is written once. */
function argumentsOf(file: string): string[] {
  const args = ownArguments();
  return [file, ...args.filter((arg, at) => !/^--ready-fd(=|$)/.test(arg) && args[at - 1] !== "--ready-fd")];
}

/** Returns false if there is no C library to do it with; then the limit stays. */
async function moveToStandardInput(descriptor: number): Promise<boolean> {
  const libc = await openCLibrary({ dup2: { args: ["i32", "i32"], returns: "i32" } });
  return libc?.dup2(descriptor, 0) === 0;
}

/**
 * The addresses for people. The web's has the name of BASE_URL, since a browser keeps the session of `localhost` apart from that of
 * `127.0.0.1`, and links in mails and the one for the first admin have that name.
 */
function addressesForPeople({ addresses, config: { baseUrl } }: RunningServer): RunningServer["addresses"] {
  const { web } = addresses;
  const isSame = web !== undefined && isLoopbackUrl(baseUrl) && new URL(baseUrl).port === new URL(web).port;
  return isSame && isLoopbackUrl(web) ? { ...addresses, web: baseUrl } : addresses;
}

const formatAddresses = ({ web, backend }: RunningServer["addresses"]) =>
  [web && `web API ${web}`, backend && `backend API ${backend}`].filter(Boolean).join(", ");

/** Describes the next steps for a new operator. */
async function nextSteps(running: RunningServer): Promise<string> {
  const { config, firstAdmin, defaultModel, place, plugins } = running;
  const addresses = addressesForPeople(running);
  const program = programName();
  const references = [addresses.web, addresses.backend].filter(Boolean).map((origin) => `${origin}/swagger`);
  const model = await defaultModel();
  // Loaded by now; imported here, because this file is also loaded before the program is executed again.
  const { providerSettings } = await import("../../../plugins/ai/settings.ts");
  const { documentationSettings } = await import("../../../plugins/documentation/settings.ts");
  const { clusterSettings } = await import("../../cluster/settings.ts");
  const isCluster = config.of(clusterSettings).url !== undefined;
  const hasGuides = addresses.web !== undefined && config.of(documentationSettings).isServed;
  const { env, label, credential } = config.of(providerSettings).registry.default;
  const setting = `${env}_API_KEY=${credential.prefix}…`;
  const hint = `for a real one start with a key, such as ${setting} for ${label} (doctor --all lists them)`;
  const rows = [
    ...(hasGuides ? [["Docs", `${addresses.web}/docs`]] : []),
    ["API", references.join("   ")],
    ...(place === undefined
      ? []
      : [
          [
            isCluster ? "Cluster" : "Cells",
            place,
            `${program} ${isCluster ? "cluster status" : "cells"} shows all of it`,
          ],
        ]),
    ...(model ? [["Model", model.label, ...(model.demo ? [hint] : [])]] : []),
    ...(plugins.length > 0 ? [["Plugins", plugins.join(", ")]] : []),
    ["Data", config.dataDir],
    ...(firstAdmin.kind === "link"
      ? [["First admin", firstAdmin.link, "opens once, makes the first admin account"]]
      : []),
    ...(firstAdmin.kind === "none"
      ? [["First admin", `no account is an admin yet: ${program} user admin EMAIL makes one`]]
      : []),
    ["Try it", `${program} demo   (the five-minute tour by itself)`],
  ];
  return rows.map(([label = "", ...lines]) => `  ${label.padEnd(14)}${lines.join(`\n${" ".repeat(16)}`)}`).join("\n");
}
