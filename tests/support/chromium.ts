// Drives the system's Chromium in headless mode over the Chrome DevTools Protocol.

import { existsSync } from "node:fs";
import { launch, temporaryDir } from "./process.ts";

/** Debian's Chromium; its build without a user interface starts and draws faster. */
const executablePaths = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/**
 * What a test spares: a process for drawing and one for the network, and the compilers of code that runs often. The simple
 * compiler takes all code at once: a new page runs most of its code for the first time.
 */
export const SPARING = [
  "--disable-gpu",
  "--enable-features=NetworkServiceInProcess2",
  "--js-flags=--no-opt,--no-maglev,--always-sparkplug",
];

/** Returns the path of the system's Chromium. */
export function chromiumPath(): string {
  const path = executablePaths.find((one) => existsSync(one));
  if (!path) throw new Error("This test needs Chromium: apt-get install chromium");
  return path;
}

export interface Page extends AsyncDisposable {
  goto(url: string): Promise<void>;
  /** Opens the address and waits for the page's load event, unless only the fragment differs from the present address. */
  load(url: string): Promise<void>;
  /** Sets what the browser tells pages about itself. Kept until it is set again. */
  emulate(settings: { width: number; theme: "light" | "dark"; language: string }): Promise<void>;
  /** Evaluates an expression in the page, awaits a promise, and returns the result by value. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Entries of the page's console and log, which includes blocked requests; JSON, shortened to 500 characters. */
  consoleEntries(): readonly string[];
}

interface Reply {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  result?: {
    result?: { value?: unknown };
    exceptionDetails?: { text: string };
    sessionId?: string;
    targetId?: string;
    loaderId?: string;
  };
  error?: { message: string };
}

/** Starts a browser with one page and a new profile. */
export async function openChromium(): Promise<Page> {
  const folder = temporaryDir();
  const flags = ["--headless", "--no-sandbox", "--mute-audio", "--no-first-run", "--disable-sync"];
  const quiet = [
    "--disable-background-networking",
    "--disable-component-update",
    "--autoplay-policy=no-user-gesture-required",
  ];
  const child = launch({
    command: [
      chromiumPath(),
      ...flags,
      ...SPARING,
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
  const consoleEntries: string[] = [];
  let counter = 0;
  let sessionId: string | undefined;
  let onLoad: (() => void) | undefined;

  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
    else if (reply.method === "Page.loadEventFired") onLoad?.();
    else if (reply.method === "Runtime.consoleAPICalled" || reply.method === "Log.entryAdded") {
      consoleEntries.push(JSON.stringify(reply.params).slice(0, 500));
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
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);

  return {
    async goto(url) {
      await send("Page.navigate", { url });
    },
    async load(url) {
      const loaded = new Promise<void>((resolve) => {
        onLoad = resolve;
      });
      const { loaderId } = await send("Page.navigate", { url });
      if (loaderId !== undefined) await loaded;
    },
    async emulate({ width, theme, language }) {
      await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
      await send("Network.setExtraHTTPHeaders", { headers: { "accept-language": language } });
    },
    async evaluate<Value>(expression: string) {
      const asked = { expression, returnByValue: true, awaitPromise: true };
      const { result, exceptionDetails } = await send("Runtime.evaluate", asked);
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return result?.value as Value;
    },
    consoleEntries: () => consoleEntries,
    async [Symbol.asyncDispose]() {
      // It ends its own processes, which would outlive a kill.
      if (child.running) socket.send(JSON.stringify({ id: ++counter, method: "Browser.close" }));
      await child.exited.catch(() => undefined);
      socket.close();
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
    if (!child.running || performance.now() > deadline)
      throw new Error(`Chromium did not start: ${child.output().stderr}`);
    await Bun.sleep(50);
  }
}
