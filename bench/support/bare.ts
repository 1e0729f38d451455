// Baselines as programs: minimal Bun servers that do the same work as a benchmark. bun bare.ts proxy|json|turns|bots …

import { Database } from "bun:sqlite";

const [kind = "", argument = "", file = "", platform = ""] = Bun.argv.slice(2);

/** Forwards every request to the given address and returns its response. */
async function proxy(request: Request): Promise<Response> {
  const { method, headers, body } = request;
  const answer = await fetch(argument, { method, headers, body });
  return new Response(answer.body, { status: answer.status, headers: answer.headers });
}

/** Returns the given JSON. */
function json(): () => Response {
  const value: unknown = JSON.parse(argument);
  return () => Response.json(value);
}

/** Stores turns in a database with Berth's durability. */
function turnsIn(file: string) {
  const database = new Database(file);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("CREATE TABLE turns (id TEXT PRIMARY KEY, message TEXT, reply TEXT)");
  const accept = database.query("INSERT INTO turns (id, message) VALUES (?, ?)");
  const settle = database.query("UPDATE turns SET reply = ? WHERE id = ?");
  return {
    accept: (id: string, message: string) => void accept.run(id, message),
    settle: (reply: string, id: string) => void settle.run(reply, id),
  };
}

/** A minimal turn: insert a row, call the model, insert a row. */
function turns(): (request: Request) => Promise<Response> {
  const database = turnsIn(file);
  return async (request) => {
    const { message } = (await request.json()) as { message: string };
    const id = Bun.randomUUIDv7();
    database.accept(id, message);
    const answer = await fetch(argument, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "fake-small", messages: [{ role: "user", content: message }] }),
    });
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    const reply = choices[0]?.message.content ?? "";
    database.settle(reply, id);
    return Response.json({ id, reply });
  };
}

/** A minimal bot: store and acknowledge a post, call the model, send the reply, close the row. */
function bots(): (request: Request) => Promise<Response> {
  const database = turnsIn(file);
  const headers = { "content-type": "application/json" };
  const answer = async (id: string, from: string, content: string, phone: string) => {
    const question = { model: "fake-small", messages: [{ role: "user", content }] };
    const answered = await fetch(argument, { method: "POST", headers, body: JSON.stringify(question) });
    const { choices } = (await answered.json()) as { choices: { message: { content: string } }[] };
    const reply = choices[0]?.message.content ?? "";
    const outgoing = { messaging_product: "whatsapp", to: from, type: "text", text: { body: reply } };
    const sent = await fetch(`${platform}/${phone}/messages`, {
      method: "POST",
      headers,
      body: JSON.stringify(outgoing),
    });
    await sent.arrayBuffer();
    database.settle(reply, id);
  };
  interface Value {
    metadata: { phone_number_id: string };
    messages: [{ id: string; from: string; text: { body: string } }];
  }
  return async (request) => {
    const { entry } = (await request.json()) as { entry: [{ changes: [{ value: Value }] }] };
    const { metadata, messages } = entry[0].changes[0].value;
    const [{ id, from, text }] = messages;
    database.accept(id, text.body);
    void answer(id, from, text.body, metadata.phone_number_id);
    return new Response();
  };
}

const handlers: Record<string, () => (request: Request) => Response | Promise<Response>> = {
  proxy: () => proxy,
  json,
  turns,
  bots,
};
const handler = handlers[kind];
if (!handler) throw new Error(`There is no baseline ${kind}.`);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, fetch: handler() });
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`);
