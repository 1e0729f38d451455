// Tests commands over the control socket and, without a service, on the file.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createClient } from "../../tests/support/client.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type Config, loadConfig } from "../kernel/config/config.ts";
import { createLog, type Log } from "../kernel/telemetry/log.ts";
import { askStartingService, runCommand } from "./commands/run-command.ts";
import { createCommandHandlers, listenOnControlSocket, runCommandOf } from "./control-socket.ts";

let server: TestServer;
let control: Awaited<ReturnType<typeof listenOnControlSocket>> | undefined;
let warnings: string[];
let log: Log;
beforeEach(async () => {
  server = await openServer();
  warnings = [];
  log = createLog({ level: "warn", format: "json", write: (line) => warnings.push(line) });
});
afterEach(async () => {
  await control?.close();
  control = undefined;
  await server?.[Symbol.asyncDispose]();
});

const socketOf = (config: Pick<Config, "dataDir"> = server.kernel.config) => join(config.dataDir, "berth.sock");
const listen = async (config = server.kernel.config) => {
  control = await listenOnControlSocket(
    { config, log },
    runCommandOf(createCommandHandlers(server.kernel, server.app)),
  );
  return control;
};
const grant = (email: string, plan = "pro", days = "30") =>
  runCommand(server.kernel.config, "user.grant", { email, plan, days });
const inDirectory = (dataDir: string) => loadConfig({ DATA_DIR: dataDir, LOG_LEVEL: "error" }, { cwd: server.dir });

describe("while the service runs", () => {
  test("a plan is granted in the service, and applies from the next request on", async () => {
    await listen();
    const ada = createClient(server.web);
    await ada.join();
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "free", subscription: null });
    const granted = await grant(` ${ada.account.email.toUpperCase()} `);
    expect(granted).toMatchObject({ email: ada.account.email, plan: "pro", status: "active" });
    const { body } = await ada.get("/api/settings");
    expect(body).toMatchObject({ plan: "pro", subscription: { plan: "pro", status: "active", active: true } });
    expect(granted).toMatchObject({
      currentPeriodEnd: (body as { subscription: { currentPeriodEnd: string } }).subscription.currentPeriodEnd,
    });
  });

  test("the account of a wallet can get a plan too", async () => {
    await listen();
    const email = "0x1234567890abcdef1234567890abcdef12345678@wallet.invalid";
    await server.app.accounts.users.create({ email, passwordHash: null });
    expect(await grant(email)).toMatchObject({ email, plan: "pro" });
  });

  test.each([
    ["nobody@example.com", "pro", "30", "USER_NOT_FOUND"],
    ["", "pro", "30", "USER_NOT_FOUND"],
    ["ada@example.com", "gold", "30", "UNKNOWN_PLAN"],
    ["ada@example.com", "", "30", "UNKNOWN_PLAN"],
    ["ada@example.com", "pro", "0", "INVALID_DAYS"],
    ["ada@example.com", "pro", "1.5", "INVALID_DAYS"],
    ["ada@example.com", "pro", "-1", "INVALID_DAYS"],
    ["ada@example.com", "pro", "36501", "INVALID_DAYS"],
    ["ada@example.com", "pro", "soon", "INVALID_DAYS"],
    ["ada@example.com", "pro", "", "INVALID_DAYS"],
  ])("%j %j %j is refused with a message: %s", async (email, plan, days, code) => {
    await listen();
    await server.app.accounts.users.create({ email: "ada@example.com", passwordHash: null });
    await expect(grant(email, plan, days)).rejects.toMatchObject({ code });
  });

  test("only the owner can use the socket, and it is removed afterwards", async () => {
    const { close } = await listen();
    expect(statSync(socketOf()).mode & 0o777).toBe(0o600);
    await close();
    expect(existsSync(socketOf())).toBe(false);
    await close();
    expect(warnings).toEqual([]);
  });

  test("an invalid command is refused, without details", async () => {
    await listen();
    const send = async (body: string) => {
      const answer = await fetch("http://localhost/", { unix: socketOf(), method: "POST", body });
      return { status: answer.status, text: await answer.text() };
    };
    for (const name of ["user.delete", "", "toString", "__proto__", "constructor"]) {
      expect((await send(JSON.stringify({ name, args: {} }))).status).toBe(404);
    }
    for (const body of ["", "{", "null", "[]", '{"name":"user.grant"}', '{"name":"user.grant","args":null}']) {
      const { status, text } = await send(body);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toHaveProperty("code");
      expect(text).not.toMatch(/TypeError|Syntax|\bat |\/srv\//);
    }
    await expect(runCommand(server.kernel.config, "dance", {})).rejects.toMatchObject({ code: "UNKNOWN_COMMAND" });
  });

  test("the log names a command and its operator, but no arguments or results", async () => {
    log = createLog({ level: "info", format: "json", write: (line) => warnings.push(line) });
    control = await listenOnControlSocket(
      { config: server.kernel.config, log },
      runCommandOf(createCommandHandlers({ log }, server.app)),
    );
    const password = "a password for nobody else";
    const run = (name: string, args: Record<string, string>) => runCommand(server.kernel.config, name, args);
    await run("user.create", { email: "ada@example.com", password, operator: "grace" });
    const { link } = (await run("user.reset-password", { email: "ada@example.com" })) as { link: string };
    expect(link).toContain("/reset-password?token=");
    const lines = warnings.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { message: "command", name: "user.create", operator: "grace" },
      { message: "command", name: "user.reset-password", operator: expect.stringMatching(/./) },
    ]);
    expect(warnings.join()).not.toContain(password);
    expect(warnings.join()).not.toContain(link.split("token=")[1] ?? "");
  });

  test("a client that sends nothing does not block others", async () => {
    await listen();
    const silent = connect(socketOf());
    await new Promise<void>((resolve) => silent.once("connect", () => resolve()));
    await expect(grant("nobody@example.com")).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
    await control?.close();
    silent.destroy();
  });
});

test("a command may take longer than a silent client may stay", async () => {
  const silentIsClosed = Promise.withResolvers<string>();
  const { log } = server.kernel;
  control = await listenOnControlSocket(
    { config: server.kernel.config, log },
    runCommandOf({ wait: () => silentIsClosed.promise }),
  );
  const answer = fetch("http://localhost/", {
    unix: socketOf(),
    method: "POST",
    body: JSON.stringify({ name: "wait", args: {} }),
  });
  connect(socketOf()).once("close", () => silentIsClosed.resolve("waited"));
  expect(await (await answer).json()).toBe("waited");
});

describe("a socket that can't be created", () => {
  test("the socket of a killed service is replaced", async () => {
    mkdirSync(server.kernel.config.dataDir, { recursive: true });
    writeFileSync(socketOf(), "");
    await listen();
    await expect(grant("nobody@example.com")).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
    expect(warnings).toEqual([]);
  });

  test("the socket of another service is not touched, whichever stops first", async () => {
    const first = await listen();
    const second = await listenOnControlSocket(
      { config: server.kernel.config, log },
      runCommandOf(createCommandHandlers(server.kernel, server.app)),
    );
    expect(warnings).toHaveLength(1);
    await second.close();
    await expect(grant("nobody@example.com")).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
    await first.close();
  });

  test("a path that is too long, a missing folder, a folder in its place: one warning, and the service runs without it", async () => {
    const long = join(server.dir, "x".repeat(120));
    const taken = join(server.dir, "taken");
    mkdirSync(long);
    mkdirSync(join(taken, "berth.sock"), { recursive: true });
    writeFileSync(join(taken, "berth.sock", "file"), "");
    for (const dataDir of [long, join(server.dir, "missing"), taken]) {
      warnings.length = 0;
      const { close } = await listen(inDirectory(dataDir));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("control socket unavailable");
      await close();
    }
    expect(existsSync(join(taken, "berth.sock", "file"))).toBe(true);
  });

  test("a path of the maximum length is used", async () => {
    const room = 107 - Buffer.byteLength(join(server.dir, "/berth.sock")) - 1;
    const dataDir = join(server.dir, "x".repeat(room));
    mkdirSync(dataDir);
    const config = inDirectory(dataDir);
    expect(Buffer.byteLength(socketOf(config))).toBe(107);
    await listen(config);
    expect(warnings).toEqual([]);
    expect(existsSync(socketOf(config))).toBe(true);
  });
});

test("a command whose service ends in the middle says so, and is not run again on the database", async () => {
  const dir = temporaryDir();
  const config = loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error" }, { cwd: dir.path });
  const ending = createServer((socket) => void socket.on("data", () => socket.destroy()));
  await new Promise<void>((resolve) => ending.listen(join(dir.path, "berth.sock"), resolve));
  const grant = runCommand(config, "user.invite", { email: "grace@example.com" });
  await expect(grant).rejects.toThrow("The service ended while it ran this command. Whether it was done is not known");
  ending.close();
  expect(existsSync(join(dir.path, "berth.db"))).toBe(false);
  dir.remove();
});

describe("while no service runs", () => {
  test("a command works on the file, and releases it", async () => {
    const dir = temporaryDir();
    const config = loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error" }, { cwd: dir.path });
    const args = { email: "ada@example.com", plan: "starter", days: "7" };
    for (const name of ["user.grant", "user.list", "audit.verify", "prune.report", "person.export", "person.verify"])
      await expect(runCommand(config, name, args)).rejects.toThrow(
        `There is no database at ${join(dir.path, "berth.db")}. DATA_DIR is ${dir.path}, from the environment.`,
      );
    expect(readdirSync(dir.path)).toEqual([]);
    // A service may begin with an invitation.
    await runCommand(config, "user.invite", { email: "grace@example.com" });
    await expect(runCommand(config, "user.grant", args)).rejects.toMatchObject({ code: "USER_NOT_FOUND" });
    await using made = await openServer({ dir: dir.path, env: { DATA_DIR: dir.path } });
    const { id } = await made.app.accounts.users.create({ email: args.email, passwordHash: null });
    await made[Symbol.asyncDispose]();
    const granted = (await runCommand(config, "user.grant", args)) as { currentPeriodEnd: string };
    const days = (Date.parse(granted.currentPeriodEnd) - Date.now()) / 86_400_000;
    expect(days).toBeWithin(6.99, 7.01);
    await using again = await openServer({ dir: dir.path, env: { DATA_DIR: dir.path } });
    expect((await again.app.accounts.users.byId(id))?.plan).toBe("starter");
    dir.remove();
  });

  test("a command refuses to open the file of a service that runs without its socket", async () => {
    await expect(grant("ada@example.com")).rejects.toThrow("Another process is using the database");
  });

  test("a command waits for a service that has the database already, and takes commands a moment later", async () => {
    const asked = askStartingService(server.kernel.config, "user.list");
    await listen();
    expect(await asked).toBeDefined();
  });
});
