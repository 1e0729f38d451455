import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBerth, startBerth } from "./berth.ts";
import { eventually } from "./eventually.ts";
import { bun, launch, temporaryDir } from "./process.ts";

// Tests `startBerth` and `runBerth` with a script in place of the binary, so that nothing has to be built.
const standIn = `#!${bun}
import { readdirSync, writeFileSync, writeSync } from "node:fs";
const [command, ...args] = process.argv.slice(2);
if (command === "user") { console.log(args.join(" ")); process.exit(process.env.PORT === undefined ? 3 : 4); }
if (process.env.FAIL) { console.error("PORT: found nonsense"); process.exit(2); }
console.log(JSON.stringify({ env: process.env, args, files: readdirSync(".") }));
const serve = (port) => Bun.serve({ port: Number(port), fetch: () => new Response("ok") });
const [web, backend] = [serve(process.env.PORT), serve(process.env.BACKEND_PORT)];
writeFileSync("kept", String(process.pid));
process.on("SIGTERM", () => process.exit(7));
if (!process.env.SILENT) writeSync(3, JSON.stringify({ web: web.url.origin + "/", backend: backend.url.origin }) + "\\n");
`;
let folder: { path: string; remove(): void };
let binary: string;
beforeAll(() => {
  folder = temporaryDir();
  binary = join(folder.path, "stand-in.js");
  writeFileSync(binary, standIn);
  chmodSync(binary, 0o755);
});
afterAll(() => folder.remove());

const alive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("starts in an empty folder with nothing but the given environment", async () => {
  let dir = "";
  let pid = 0;
  {
    await using berth = await startBerth({ binary, env: { EXTRA: "1" } });
    ({ dir, pid } = berth);
    // The output comes over another pipe than the ready line, so it may arrive later.
    const started = await eventually(() => JSON.parse(berth.output().stdout));
    expect(started).toEqual({
      env: { PORT: "0", BACKEND_PORT: "0", RTMP_PORT: "0", LOG_FORMAT: "json", EXTRA: "1" },
      args: ["--ready-fd", "3"],
      files: [],
    });
    expect(await (await fetch(berth.web)).text()).toBe("ok");
    expect(berth.web).not.toEndWith("/");
    expect(berth.backend).not.toBe(berth.web);
  }
  expect(alive(pid)).toBe(false);
  expect(existsSync(dir)).toBe(false);
});

test("stops with its exit code and restarts in the same folder, on request on the same ports", async () => {
  await using berth = await startBerth({ binary });
  const { web, backend, pid } = berth;
  await berth.restart({ keepPorts: true, env: { MORE: "2" } });
  expect([berth.web, berth.backend]).toEqual([web, backend]);
  expect(berth.pid).not.toBe(pid);
  await eventually(() => {
    expect(berth.output().stdout).toContain('"files":["kept"]');
    expect(berth.output().stdout).toContain('"MORE":"2"');
    return true;
  });
  expect(await berth.stop()).toBe(7);
  expect(berth.running).toBe(false);
  await berth.restart();
  await berth.kill();
  expect(alive(berth.pid)).toBe(false);
});

test("a start that fails or takes too long throws its output and leaves no process or folder", async () => {
  await expect(startBerth({ binary, env: { FAIL: "1" } })).rejects.toThrow(
    /code 2 before it was ready.*found nonsense/s,
  );
  const dir = temporaryDir();
  await expect(startBerth({ binary, dir: dir.path, env: { SILENT: "1" }, readyMs: 500 })).rejects.toThrow(
    "Not ready within",
  );
  expect(alive(Number(await Bun.file(join(dir.path, "kept")).text()))).toBe(false);
  dir.remove();
  await expect(startBerth({ binary: "/nowhere/berth" })).rejects.toThrow("npm run build");
});

test("commands run to their end, with or without a running service", async () => {
  expect(await runBerth(["user", "grant"], {}, folder.path, binary)).toEqual({
    exitCode: 3,
    stdout: "grant\n",
    stderr: "",
  });
  await using berth = await startBerth({ binary });
  expect(await berth.command("user", "grant", "a@b.c")).toMatchObject({ exitCode: 4, stdout: "grant a@b.c\n" });
});

test("when a test process dies, its children and folders are removed", async () => {
  const script = join(folder.path, "dying.ts");
  writeFileSync(
    script,
    `import { startBerth } from ${JSON.stringify(join(import.meta.dir, "berth.ts"))};
     const berth = await startBerth({ binary: ${JSON.stringify(binary)} });
     console.log(JSON.stringify({ web: berth.web, dir: berth.dir }));`,
  );
  const child = launch({ command: [bun, script], env: {}, dir: folder.path });
  const { web, dir } = JSON.parse(await child.ready());
  const answers = () =>
    fetch(web).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  child.signal("SIGKILL");
  expect(await child.exited).toBe(137);
  await eventually(async () => !(await answers()) && !existsSync(dir), { what: "the service and its folder are gone" });
});
