// `berth demo`: the README's tour by itself, against a real service in a throwaway folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment } from "../config.ts";
import { runCommand } from "../control.ts";
import { type Running, serve } from "../serve.ts";

const say = (text: string) => process.stdout.write(`${text}\n`);

export async function demoCommand(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), "berth-demo-"));
  const before = process.cwd();
  process.chdir(dir);
  let running: Running | undefined;
  try {
    say("\nBerth's tour. Everything happens in a throwaway folder; nothing of yours is touched.\n");
    const started = performance.now();
    running = await serve({ env: demoEnvironment(dir), plugins: [] });
    say(`1. The service is up after ${Math.round(performance.now() - started)} ms: ${running.addresses.web}`);
    await tour(running);
    say("\nThat was all of it. Start your own with: berth\n");
    return 0;
  } finally {
    await running?.stop();
    process.chdir(before);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Of the operator's settings, only which models may answer. */
function demoEnvironment(dir: string): Record<string, string | undefined> {
  const kept = Object.entries(environment()).filter(([name]) => /^(PROVIDER_[1-5]_|MODEL_[AB]$)/.test(name));
  return { ...Object.fromEntries(kept), DATA_DIR: dir, PORT: "0", BACKEND_PORT: "0", LOG_LEVEL: "error" };
}

async function tour({ addresses, config }: Running): Promise<void> {
  const web = addresses.web ?? "";
  const call = caller(web);
  const account = { email: "ada@example.com", password: "correct horse battery" };

  const user = await call("POST", "/api/register", { ...account, name: "Ada" });
  say(`2. Signed up: ${user.name} <${user.email}>`);

  await runCommand(config, "user.grant", { email: account.email, plan: "pro", days: "30" });
  say("3. Given a plan, as an operator does:  berth user grant ada@example.com pro");

  await call("POST", "/api/auth/callback/credentials", account);
  say("4. Signed in; the session is a cookie.");

  const { agent } = await call("POST", "/api/agents/provision", {
    name: "Harbour",
    config: { instructions: "You are a cheerful harbour master." },
  });
  say(`5. Provisioned an agent: ${agent.name} (${agent.status})`);

  const question = "Hello! What time is it?";
  const answer = await call("POST", "/api/agent", { message: question });
  say(`6. Asked it over REST:\n     you    ${question}\n     agent  ${indented(answer.reply)}`);

  process.stdout.write("7. Asked again, streamed:\n     agent  ");
  for await (const text of call.stream("/api/agent", { message: "Remember that I love lighthouses." })) {
    process.stdout.write(indented(text));
  }
  process.stdout.write("\n");

  const reply = await overSocket(
    agent.websocketUrl.replace(/^ws:\/\/[^/]+/, web.replace("http", "ws")),
    web,
    call.cookie(),
  );
  say(`8. And over the WebSocket gateway:\n     agent  ${indented(reply)}`);
}

const indented = (text: string) => text.replaceAll("\n", "\n            ");

/** What the tour reads of the answers. */
interface Answer {
  name: string;
  email: string;
  reply: string;
  error?: string;
  agent: { name: string; status: string; websocketUrl: string };
}

/** A small client that keeps the cookie. A refused call ends the demo with what the service said. */
function caller(web: string) {
  let cookie = "";

  async function send(method: string, path: string, body: object, accept: string): Promise<Response> {
    const headers = { "content-type": "application/json", accept, cookie };
    const answer = await fetch(`${web}${path}`, { method, headers, body: JSON.stringify(body) });
    cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    if (answer.ok) return answer;
    throw new Error(`${method} ${path} answered ${answer.status}: ${((await answer.json()) as Answer).error}`);
  }

  const call = async (method: string, path: string, body: object) =>
    (await send(method, path, body, "application/json")).json() as Promise<Answer>;

  async function* stream(path: string, body: object): AsyncGenerator<string> {
    const { parseEvents } = await import("../../plugins/runtime/index.ts");
    const answer = await send("POST", path, body, "text/event-stream");
    for await (const { event, data } of parseEvents(answer.body ?? new ReadableStream())) {
      if (event === "delta") yield (JSON.parse(data) as { text: string }).text;
    }
  }

  return Object.assign(call, { stream, cookie: () => cookie });
}

function overSocket(url: string, origin: string, cookie: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = new WebSocket(url, { headers: { cookie, origin } });
  socket.onopen = () =>
    socket.send(JSON.stringify({ type: "chat", id: "1", message: "What do you remember about lighthouses?" }));
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(String(data)) as { type: string; reply?: string; error?: string };
    if (frame.type === "reply") resolve(frame.reply ?? "");
    if (frame.type === "error") reject(new Error(frame.error));
  };
  socket.onclose = ({ code, reason }) => reject(new Error(`The socket closed: ${code} ${reason}`));
  return promise.finally(() => {
    socket.onclose = null;
    socket.close();
  });
}
