// Runs `berth demo`: the tour of the README, against a real service in a temporary folder.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { providerSettings } from "../../../plugins/ai/settings.ts";
import { environment } from "../../kernel/config/config.ts";
import { programName } from "../../kernel/config/program-name.ts";
import { parseEvents } from "../../kernel/http/sse-parser.ts";
import { type RunningServer, serve } from "../serve.ts";
import { runCommand } from "./run-command.ts";

const print = (text: string) => process.stdout.write(`${text}\n`);

export async function demoCommand(): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), "berth-demo-"));
  const previousDirectory = process.cwd();
  process.chdir(dir);
  let running: RunningServer | undefined;
  try {
    print("\nBerth's tour. Everything happens in a throwaway folder; nothing of yours is touched.\n");
    const started = performance.now();
    running = await serve({ env: demoEnvironment(dir), plugins: [] });
    print(`1. The service is up after ${Math.round(performance.now() - started)} ms: ${running.addresses.web}`);
    await runTour(running);
    print(`\nThat was all of it. Start your own with: ${programName()}\n`);
    return 0;
  } finally {
    await running?.stop();
    process.chdir(previousDirectory);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Takes only the settings of model providers from the operator's environment. */
function demoEnvironment(dir: string): Record<string, string | undefined> {
  const modelVariables = Object.entries(environment()).filter(([name]) =>
    Object.hasOwn(providerSettings.variables, name),
  );
  return { ...Object.fromEntries(modelVariables), DATA_DIR: dir, PORT: "0", BACKEND_PORT: "0", LOG_LEVEL: "error" };
}

async function runTour({ addresses, config }: RunningServer): Promise<void> {
  const web = addresses.web ?? "";
  const call = createDemoClient(web);
  const account = { email: "ada@example.com", password: "correct horse battery" };

  const user = await call("POST", "/api/register", { ...account, name: "Ada" });
  print(`2. Signed up: ${user.name} <${user.email}>`);

  await runCommand(config, "user.grant", { email: account.email, plan: "pro", days: "30" });
  print(`3. Given a plan, as an operator does:  ${programName()} user grant ada@example.com pro`);

  await call("POST", "/api/auth/callback/credentials", account);
  print("4. Signed in; the session is a cookie.");

  const { agent } = await call("POST", "/api/agents/provision", {
    name: "Harbour",
    config: { instructions: "You are a cheerful harbour master." },
  });
  print(`5. Provisioned an agent: ${agent.name} (${agent.status})`);

  const question = "Hello! What time is it?";
  const response = await call("POST", "/api/agent", { message: question });
  print(`6. Asked it over REST:\n     you    ${question}\n     agent  ${indent(response.reply)}`);

  process.stdout.write("7. Asked again, streamed:\n     agent  ");
  for await (const text of call.stream("/api/agent", { message: "Remember that I love lighthouses." })) {
    process.stdout.write(indent(text));
  }
  process.stdout.write("\n");

  const reply = await chatOverWebSocket(
    agent.websocketUrl.replace(/^ws:\/\/[^/]+/, web.replace("http", "ws")),
    web,
    call.cookie(),
  );
  print(`8. And over the WebSocket gateway:\n     agent  ${indent(reply)}`);
}

const indent = (text: string) => text.replaceAll("\n", "\n            ");

/** The fields of responses that the tour reads. */
interface ApiResponse {
  name: string;
  email: string;
  reply: string;
  error?: string;
  agent: { name: string; status: string; websocketUrl: string };
}

/** Makes an HTTP client that keeps the session cookie. A failing call ends the demo with the service's error. */
function createDemoClient(web: string) {
  let cookie = "";

  async function send(method: string, path: string, body: object, accept: string): Promise<Response> {
    const headers = { "content-type": "application/json", accept, cookie };
    const response = await fetch(`${web}${path}`, { method, headers, body: JSON.stringify(body) });
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    if (response.ok) return response;
    throw new Error(`${method} ${path} answered ${response.status}: ${((await response.json()) as ApiResponse).error}`);
  }

  const call = async (method: string, path: string, body: object) =>
    (await send(method, path, body, "application/json")).json() as Promise<ApiResponse>;

  async function* stream(path: string, body: object): AsyncGenerator<string> {
    const response = await send("POST", path, body, "text/event-stream");
    for await (const { event, data } of parseEvents(response.body ?? new ReadableStream())) {
      if (event === "delta") yield (JSON.parse(data) as { text: string }).text;
    }
  }

  return Object.assign(call, { stream, cookie: () => cookie });
}

function chatOverWebSocket(url: string, origin: string, cookie: string): Promise<string> {
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
