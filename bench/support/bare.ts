// Baselines as programs: the plainest Bun server that does the same thing, and nothing else. bun bare.ts proxy|json|turns …

import { Database } from "bun:sqlite";

const [kind = "", argument = "", file = ""] = Bun.argv.slice(2);

/** Forwards every request to the address given, and its answer back. */
async function proxy(request: Request): Promise<Response> {
  const { method, headers, body } = request;
  const answer = await fetch(argument, { method, headers, body });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}

/** Answers the JSON given. */
function json(): () => Response {
  const value: unknown = JSON.parse(argument);
  return () => Response.json(value);
}

/** A turn without a runtime: a row in, the model asked, a row out, in a database as durable as Berth's. */
function turns(): (request: Request) => Promise<Response> {
  const database = new Database(file);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("CREATE TABLE turns (id TEXT PRIMARY KEY, message TEXT, reply TEXT)");
  const accept = database.query("INSERT INTO turns (id, message) VALUES (?, ?)");
  const settle = database.query("UPDATE turns SET reply = ? WHERE id = ?");
  return async (request) => {
    const { message } = (await request.json()) as { message: string };
    const id = Bun.randomUUIDv7();
    accept.run(id, message);
    const answer = await fetch(argument, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "fake-small", messages: [{ role: "user", content: message }] }),
    });
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    const reply = choices[0]?.message.content ?? "";
    settle.run(reply, id);
    return Response.json({ id, reply });
  };
}

const handlers: Record<string, () => (request: Request) => Response | Promise<Response>> = {
  proxy: () => proxy,
  json,
  turns,
};
const handler = handlers[kind];
if (!handler) throw new Error(`There is no baseline ${kind}.`);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: handler() });
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`);
