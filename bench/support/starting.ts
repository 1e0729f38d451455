// How long a program takes from its start to its first answers, looked at every half millisecond.

import { createServer } from "node:net";

export interface Started {
  pid: number;
  /** Milliseconds from the start to the whole answer, by path. */
  took: Record<string, number>;
  /** Ends it by SIGTERM and waits. */
  stop(): Promise<void>;
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Starts `command`, which will listen on `port`, and asks for these paths, one after the other. */
export async function timeStart(
  command: string[],
  { env = {}, dir, port, paths }: { env?: Record<string, string>; dir: string; port: number; paths: string[] },
): Promise<Started> {
  const began = performance.now();
  const child = Bun.spawn(command, { cwd: dir, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const took: Record<string, number> = {};
  try {
    for (const path of paths) {
      while (!(await asked(port, path))) {
        if (child.exitCode !== null) throw new Error(`It ended at once: ${await child.stderr.text()}`);
        if (performance.now() - began > 20_000) throw new Error(`No answer for ${path} within 20 s.`);
        await Bun.sleep(0.5);
      }
      took[path] = performance.now() - began;
    }
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    pid: child.pid,
    took,
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await child.exited;
      clearTimeout(late);
    },
  };
}

/** Whether it answered with 200; false while nobody listens. */
async function asked(port: number, path: string): Promise<boolean> {
  let text = "";
  try {
    await new Promise<void>((resolve, reject) => {
      Bun.connect({
        hostname: "127.0.0.1",
        port,
        socket: {
          open: (socket) => void socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`),
          data: (socket, data) => {
            text += data.toString();
            if (text.includes("\r\n\r\n")) socket.end();
          },
          close: () => resolve(),
          error: (_, error) => reject(error),
        },
      }).catch(reject);
    });
  } catch {
    // Nobody listens yet.
    return false;
  }
  return text.startsWith("HTTP/1.1 200");
}
