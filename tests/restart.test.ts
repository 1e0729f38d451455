// Restarts of the running binary: no request is refused or reset, and nothing that was accepted is lost.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { openGateway } from "./support/gateway-client.ts";
import { member, provision } from "./support/members.ts";
import { startLoad } from "./support/steady-load.ts";
import { startUpstream } from "./support/upstream.ts";

test("under load: 0 refused, 0 reset, nothing lost, the same process; by command and by SIGHUP", async () => {
  const upstream = await startUpstream();
  await using berth = await startBerth({
    env: { RATE_LIMITS: "off", PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small" },
  });
  const ada = await member(berth);
  const agent = await provision(ada);
  const { body: key } = await ada.post<{ key: string }>("/api/keys", { name: "load", scopes: ["read", "write"] });
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key.key}\r\n`;
  const get = () => `${head(`GET /api/agents/${agent.id}`)}\r\n`;
  let sent = 0;
  const stored = new Set<string>();
  const writer = (isKept: boolean) => {
    let text = "";
    return {
      isKept,
      request() {
        text = `note ${sent++}`;
        const body = JSON.stringify({ text });
        return `${head(`POST /api/agents/${agent.id}/memories`)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      },
      onAnswer: (status: number) => void (status === 201 && stored.add(text)),
    };
  };
  const gateway = openGateway(berth, agent.id, { cookie: ada.cookie });
  gateway.send({ type: "chat", id: "1", message: "Are you there?" });
  await gateway.next("reply");
  const workers = [
    ...Array.from({ length: 8 }, () => ({ isKept: true, request: get })),
    ...Array.from({ length: 4 }, () => ({ isKept: false, request: get })),
    writer(true),
    writer(false),
  ];
  const load = startLoad(berth.web, workers);
  await eventually(() => load.answered > 50);
  const pauses: number[] = [];
  for (let restart = 0; restart < 2; restart++) {
    const { exitCode, stdout, stderr } = await berth.command("restart");
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`process ${berth.pid}`);
    pauses.push(Number(/waited for (\d+) ms/.exec(stdout)?.[1]));
  }
  process.kill(berth.pid, "SIGHUP");
  await eventually(() => berth.output().stderr.split('"message":"restarted"').length === 4, { timeoutMs: 20_000 });
  const before = load.answered;
  await eventually(() => load.answered > before + 50);
  await load.stop();
  console.info(
    `restarts: ${load.answered} answered, requests waited for ${pauses} ms, the slowest took ${Math.round(load.longestMs)} ms`,
  );
  expect(load.failures).toEqual([]);
  expect((await gateway.closed).code).toBe(1001);
  expect((await createClient(berth).get("/readyz")).status).toBe(200);
  await berth.stop();
  using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
  const found = new Set(
    database
      .query<{ content: string }, []>("SELECT content FROM memories")
      .all()
      .map(({ content }) => content),
  );
  expect(stored.size).toBeGreaterThan(10);
  expect([...stored].filter((text) => !found.has(text))).toEqual([]);
  await upstream.stop();
});
