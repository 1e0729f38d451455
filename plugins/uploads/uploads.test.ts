// Tests uploads on both surfaces: limits, the headers of what is sent back, ownership, the sweep, and use by a message's turn.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Surface } from "../../src/kernel/http/surface.ts";
import { HOUR } from "../../src/kernel/util/time.ts";
import { openPluginHost, type PluginHost } from "../../tests/support/plugin-host.ts";
import { type Agent, agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { uploads } from "./index.ts";
import { createUploadService } from "./upload-service.ts";

const PNG = Buffer.from("\x89PNG\r\n\x1a\n a boat", "latin1");

let opened: PluginHost;
let web: Surface;
beforeAll(async () => {
  opened = await openPluginHost();
  opened.host.use(uploads);
  web = opened.surface("web");
  opened.kernel.backend.attach(opened.surface("backend").handle);
});
afterAll(() => opened?.[Symbol.asyncDispose]());

let made = 0;
async function member() {
  const accounts = opened.host.use(auth);
  const email = `user-${++made}@example.com`;
  const passwordHash = await Bun.password.hash("12345678", { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
  const { id: userId } = await accounts.users.create({ email, name: "Ada", passwordHash });
  const signedIn = await web.handle(
    new Request("http://localhost/api/auth/callback/credentials", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password: "12345678" }),
    }),
  );
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const provision = (name: string): Promise<Agent> =>
    opened.host.use(agents).provision({ userId, isAdmin: true, name, model: "model_a" });
  const ask = (path: string, init: RequestInit = {}) =>
    web.handle(new Request(`http://localhost${path}`, { ...init, headers: { cookie, ...init.headers } }));
  const upload = async (
    agent: Agent,
    body: string | Uint8Array | FormData,
    headers: Record<string, string> = {},
    query = "",
  ) => {
    const response = await ask(`/api/agents/${agent.id}/uploads${query}`, { method: "POST", body, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  return { userId, agent: await provision("Harbour"), provision, ask, upload };
}
const form = (file: File) => {
  const data = new FormData();
  data.set("file", file);
  return data;
};

describe("an upload", () => {
  test("is stored from a form, by its own type, and sent back as it came", async () => {
    const { agent, upload, ask } = await member();
    const { status, body } = await upload(agent, form(new File([PNG], "../../boat.png", { type: "text/html" })));
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(String),
        name: "boat.png",
        type: "image/png",
        size: PNG.length,
        createdAt: expect.any(String),
      },
    });
    const file = await ask(`/api/agents/${agent.id}/uploads/${body.id}`);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(PNG);
    expect(Object.fromEntries(file.headers)).toMatchObject({
      "content-type": "image/png",
      "content-disposition": "inline; filename=\"boat.png\"; filename*=UTF-8''boat.png",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
    });
  });

  test("is stored from a body, and nothing but a real picture is shown in place", async () => {
    const { agent, upload, ask } = await member();
    for (const type of ["text/html", "image/svg+xml", "image/png", "application/xhtml+xml", "nonsense"]) {
      const { status, body } = await upload(
        agent,
        "<svg onload=alert(1)>",
        { "content-type": type },
        "?name=a%22%0d%0ab.svg",
      );
      expect(status).toBe(201);
      const { headers } = await ask(`/api/agents/${agent.id}/uploads/${body.id}`);
      // Browsers run neither, and are told to save it.
      expect(["application/octet-stream", "text/plain"]).toContain(headers.get("content-type") ?? "");
      expect(headers.get("content-disposition")).toStartWith("attachment; ");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-disposition")).toStartWith('attachment; filename="a-b.svg"');
    }
  });

  test("is not found by others, and its words say what to do", async () => {
    const [ada, eve] = [await member(), await member()];
    const { body } = await ada.upload(ada.agent, PNG);
    const path = `/api/agents/${ada.agent.id}/uploads`;
    for (const [method, at] of [
      ["GET", path],
      ["POST", path],
      ["GET", `${path}/${body.id}`],
      ["DELETE", `${path}/${body.id}`],
      ["GET", `/api/agents/${eve.agent.id}/uploads/${body.id}`],
      ["GET", `${path}/..%2f..%2fberth.db`],
    ] as const) {
      expect((await eve.ask(at, { method, ...(method === "POST" && { body: PNG }) })).status).toBe(404);
    }
    const anonymous = await web.handle(new Request(`http://localhost${path}`, { method: "POST", body: PNG }));
    expect(anonymous.status).toBe(401);
    const empty = await ada.upload(ada.agent, "");
    expect(empty).toMatchObject({ status: 400, body: { issues: [{ path: "file" }] } });
    const noFile = await ada.upload(ada.agent, form(new File([], "a")));
    expect(noFile.status).toBe(400);
  });

  test("larger than 20 MiB is refused before its body is read, and in a form after", async () => {
    const { agent, upload } = await member();
    const large = await upload(agent, PNG, { "content-length": String(30 * 1024 * 1024) });
    expect(large).toMatchObject({ status: 413, body: { code: "UPLOAD_TOO_LARGE" } });
    const file = new File([new Uint8Array(20 * 1024 * 1024 + 1)], "a.bin");
    expect(await upload(agent, form(file))).toMatchObject({ status: 413, body: { code: "UPLOAD_TOO_LARGE" } });
  });

  test("beyond what the plan has room for is refused, over all agents of the account", async () => {
    const { userId, agent, provision, upload, ask } = await member();
    const other = await provision("Second");
    const sql = "INSERT INTO uploads VALUES ('0', ?, 'a', 'b', ?, 0)";
    await opened.kernel.database.write([{ sql, args: [other.id, 100 * 1024 * 1024 - PNG.length] }]);
    const first = await upload(agent, PNG);
    expect(first.status).toBe(201);
    const second = await upload(agent, PNG);
    expect(second).toMatchObject({ status: 413, body: { code: "UPLOAD_QUOTA_EXCEEDED" } });
    expect(readdirSync(join(opened.dir, "uploads", agent.id))).toEqual([String(first.body.id)]);
    expect((await ask(`/api/agents/${agent.id}/uploads/${first.body.id}`, { method: "DELETE" })).status).toBe(200);
    expect((await upload(agent, PNG)).status).toBe(201);
    expect(userId).toBeString();
  });

  test("is listed newest first, page by page, and goes with its agent", async () => {
    const { agent, upload, ask } = await member();
    const ids: unknown[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await upload(agent, PNG)).body.id);
    const page = async (query: string) => (await ask(`/api/agents/${agent.id}/uploads${query}`)).json();
    const first = (await page("?limit=2")) as { uploads: { id: string }[]; nextCursor: string };
    const second = (await page(`?limit=2&cursor=${first.nextCursor}`)) as { uploads: { id: string }[] };
    expect([...first.uploads, ...second.uploads].map(({ id }) => id as unknown)).toEqual(ids);
    await opened.host.use(agents).remove(agent.id);
    expect(existsSync(join(opened.dir, "uploads", agent.id))).toBe(false);
  });

  test("that was never sent, and a file that a kill left behind, are swept", async () => {
    const { agent, upload, ask } = await member();
    const [old, young] = [await upload(agent, PNG), await upload(agent, PNG)];
    const sql = "UPDATE uploads SET created_at = 0 WHERE id = ?";
    await opened.kernel.database.write([{ sql, args: [String(old.body.id)] }]);
    const orphan = join(opened.dir, "uploads", agent.id, "left.unfinished");
    writeFileSync(orphan, "x");
    const past = (Date.now() - 2 * HOUR) / 1000;
    utimesSync(orphan, past, past);
    const accounts = opened.host.use(auth);
    const deps = { ...opened.kernel, agents: opened.host.use(agents), users: accounts.users };
    await createUploadService(deps).sweep(Date.now() - 24 * HOUR);
    expect(readdirSync(join(opened.dir, "uploads", agent.id))).toEqual([String(young.body.id)]);
    expect((await ask(`/api/agents/${agent.id}/uploads/${old.body.id}`)).status).toBe(404);
  });
});

describe("a message with uploads", () => {
  let fixture: RuntimeFixture;
  beforeAll(async () => {
    fixture = await openRuntimeFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  test("shows its picture to the model, keeps the upload, and loses it with its text", async () => {
    const agent = await fixture.agent({ model: "provider_5:gpt-4o-mini" });
    const service = fixture.host.use(uploads);
    const { id } = await service.add(agent, { name: "boat.png", type: "image/png", bytes: new Uint8Array(PNG) });
    const attachments = await service.attachmentsOf(agent.id, [id]);
    const content = `${service.notesOf(attachments)}\nWhat is this?`;
    expect(content).toBe("[photo: boat.png]\nWhat is this?");
    await fixture.runtime.service.accept([
      {
        agentId: agent.id,
        platform: "web",
        to: { peer: "conversation" },
        sender: { id: agent.userId, name: "Ada" },
        byOwner: true,
        content,
        attachments,
      },
    ]);
    await fixture.idle();
    expect(fixture.upstream.chats.at(-1)?.messages.at(-1)?.content).toMatchObject([
      { type: "text" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
    ]);
    const [{ id: messageId = "" } = {}] = await fixture.rows("SELECT id FROM inbox WHERE agent_id = ?", agent.id);
    const shown = await service.ofMessages(agent.id, [String(messageId), "other"]);
    expect([...shown]).toMatchObject([[messageId, [{ id, name: "boat.png" }]]]);

    const { sweep } = createUploadService({
      ...fixture.kernel,
      agents: fixture.agents,
      users: fixture.host.use(auth).users,
    });
    await fixture.kernel.database.write([{ sql: "UPDATE uploads SET created_at = 0", args: [] }]);
    await sweep(Date.now());
    expect(await service.list(agent.id, { limit: 9 })).toHaveLength(1);
    await fixture.kernel.database.write([
      { sql: "UPDATE inbox SET content = ''", args: [] },
      { sql: "DELETE FROM messages", args: [] },
    ]);
    await sweep(Date.now());
    expect(await service.list(agent.id, { limit: 9 })).toEqual([]);
    await expect(service.attachmentsOf(agent.id, [id])).rejects.toMatchObject({ code: "UPLOAD_NOT_FOUND" });
  });
});
