// Measures the time from the start of a program to its first responses, with a request every half millisecond.

import { createServer } from "node:net";

export interface Started {
  pid: number;
  /** Milliseconds from the start to the complete response, by path. */
  took: Record<string, number>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** Finds a port that was free a moment ago. */
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

/** Starts `command`, which listens on `port`, and requests these paths, one after the other. */
export async function timeStart(
  command: string[],
  { env = {}, dir, port, paths }: { env?: Record<string, string>; dir: string; port: number; paths: string[] },
): Promise<Started> {
  const began = performance.now();
  const child = Bun.spawn(command, { cwd: dir, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const took: Record<string, number> = {};
  try {
    for (const path of paths) {
      while (!(await responds(port, path))) {
        if (child.exitCode !== null) throw new Error(`The program ended at once: ${await child.stderr.text()}`);
        if (performance.now() - began > 20_000) throw new Error(`No response of ${path} within 20 s.`);
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

/** Whether the response is 200; false while the port is not open. */
async function responds(port: number, path: string): Promise<boolean> {
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
    // The port is not open yet.
    return false;
  }
  return text.startsWith("HTTP/1.1 200");
}
