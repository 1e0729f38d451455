// A proxy in front of sqld that loses answers: the server has done what it was asked, and the client never hears of it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SqldProxy extends AsyncDisposable {
  readonly url: string;
  /** Cuts the connection in place of the next answer to a request with this SQL; resolves when that has happened. */
  loseAnswer(text: string): Promise<void>;
}

export async function startSqldProxy(target: string): Promise<SqldProxy> {
  const losing: { text: string; lost: () => void }[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request));
    const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
    const answer = await fetch(target + request.url, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    }).catch(() => undefined);
    const content = answer ? await answer.bytes() : undefined;
    const at = losing.findIndex(({ text }) => body.includes(JSON.stringify(text).slice(1, -1)));
    if (!answer || at >= 0) {
      request.socket.destroy();
      for (const { lost } of losing.splice(at, at < 0 ? 0 : 1)) lost();
      return;
    }
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "application/json" });
    response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswer: (text) => new Promise((lost) => losing.push({ text, lost })),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
