// A real browser without a screen, driven over its own protocol (Chrome DevTools Protocol). From the system.

import { launch, temporaryDir } from "./process.ts";

export interface Page extends AsyncDisposable {
  goto(url: string): Promise<void>;
  /** The value of an expression in the page, by value; a promise is waited for. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** What the page has written to its console, and what was refused to it. */
  said(): readonly string[];
}

interface Reply {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: { result?: { value?: unknown }; exceptionDetails?: { text: string }; sessionId?: string; targetId?: string };
  error?: { message: string };
}

/** Starts a browser with one page, in a folder of its own. */
export async function openChromium(): Promise<Page> {
  const folder = temporaryDir();
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", "--no-first-run", "--disable-sync"];
  const quiet = [
    "--disable-background-networking",
    "--disable-component-update",
    "--autoplay-policy=no-user-gesture-required",
  ];
  const child = launch({
    command: [
      "chromium",
      ...flags,
      ...quiet,
      "--remote-debugging-port=0",
      `--user-data-dir=${folder.path}`,
      "about:blank",
    ],
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: folder.path },
    dir: folder.path,
  });
  const socket = await connect(child);
  const waiting = new Map<number, (reply: Reply) => void>();
  const said: string[] = [];
  let counter = 0;
  let sessionId: string | undefined;

  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    else if (reply.method === "Runtime.consoleAPICalled" || reply.method === "Log.entryAdded") {
      said.push(JSON.stringify(reply.params).slice(0, 500));
    }
  };
  async function send(method: string, params: object = {}): Promise<NonNullable<Reply["result"]>> {
    const id = ++counter;
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
    });
    waiting.delete(id);
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`);
    return reply.result ?? {};
  }

  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  ({ sessionId } = await send("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log"]) await send(`${domain}.enable`);

  return {
    async goto(url) {
      await send("Page.navigate", { url });
    },
    async evaluate<Value>(expression: string) {
      const asked = { expression, returnByValue: true, awaitPromise: true };
      const { result, exceptionDetails } = await send("Runtime.evaluate", asked);
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return result?.value as Value;
    },
    said: () => said,
    async [Symbol.asyncDispose]() {
      socket.close();
      child.signal("SIGKILL");
      await child.exited.catch(() => undefined);
      folder.remove();
    },
  };
}

async function connect(child: ReturnType<typeof launch>): Promise<WebSocket> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const [, url] = /DevTools listening on (\S+)/.exec(child.output().stderr) ?? [];
    if (url) {
      const socket = new WebSocket(url);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = reject;
      });
      return socket;
    }
    if (!child.running || performance.now() > deadline) throw new Error(`No browser: ${child.output().stderr}`);
    await Bun.sleep(50);
  }
}
