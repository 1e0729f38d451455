// Tests the pipe for live video with real sockets.
import { afterEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { silent } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { freePorts } from "../../../tests/support/nats.ts";
import { createRtmpPipe, type RtmpPipe } from "./rtmp-pipe.ts";

const HOST = "127.0.0.1";
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

/** An owner that handles its connections so. */
async function ownerWith(handle: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true }, handle);
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  opened.push({ close: () => server.close() });
  return (server.address() as { port: number }).port;
}
async function pipeTo(
  target: () => { host: string; port: number } | undefined,
): Promise<{ pipe: RtmpPipe; port: number }> {
  const [port = 0] = await freePorts(1);
  const pipe = createRtmpPipe({ host: HOST, port, target, log: silent });
  await pipe.open();
  opened.push(pipe);
  return { pipe, port };
}
async function connectTo(port: number): Promise<Socket> {
  const socket = createConnection({ host: HOST, port, allowHalfOpen: true });
  opened.push({ close: () => socket.destroy() });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}

test("20 MB come byte for byte, both ways, and one side may end first", async () => {
  const owner = await ownerWith((socket) => socket.pipe(socket));
  const { port } = await pipeTo(() => ({ host: HOST, port: owner }));
  const socket = await connectTo(port);
  const sent = randomBytes(20 * 1024 * 1024);
  const received: Buffer[] = [];
  const ended = new Promise<void>((resolve) => socket.on("data", (data) => received.push(data)).once("end", resolve));
  socket.end(sent);
  await ended;
  expect(Buffer.concat(received).equals(sent)).toBe(true);
});

test("an owner that does not read holds the encoder back", async () => {
  let reading: Socket | undefined;
  const owner = await ownerWith((socket) => {
    socket.pause();
    reading = socket;
  });
  const { port } = await pipeTo(() => ({ host: HOST, port: owner }));
  const socket = await connectTo(port);
  const part = Buffer.alloc(1024 * 1024);
  let written = 0;
  while (socket.write(part) || socket.writableLength < 32 * 1024 * 1024) if (++written > 200) break;
  await eventually(() => reading !== undefined);
  // The kernel's buffers and those of the pipe take some; the rest waits at the encoder.
  await eventually(() => socket.bytesWritten - socket.writableLength > 0);
  expect(socket.writableLength).toBeGreaterThan(8 * 1024 * 1024);
});

test("without an owner, or with one that can't be reached, a connection ends at once", async () => {
  const [nobody = 0] = await freePorts(1);
  for (const target of [() => undefined, () => ({ host: HOST, port: nobody })]) {
    const { port } = await pipeTo(target);
    const socket = await connectTo(port);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()).on("error", () => undefined));
    socket.resume();
    socket.once("end", () => socket.end());
    await closed;
  }
});

test("a connection to a silent owner ends once another node owns the cell, and makes room", async () => {
  const silentOwner = await ownerWith((socket) => socket.pause());
  const next = await ownerWith((socket) => socket.pipe(socket));
  let owner = silentOwner;
  const { port } = await pipeTo(() => ({ host: HOST, port: owner }));
  const stalled = await connectTo(port);
  const closed = new Promise<void>((resolve) => stalled.once("close", () => resolve()).on("error", () => undefined));
  stalled.resume();
  stalled.once("end", () => stalled.end());
  stalled.write("video");
  owner = next;
  await closed;
  const socket = await connectTo(port);
  const echoed = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  socket.write("again");
  expect(await echoed).toBe("again");
});

test("a connection stays while no other owner is known", async () => {
  const port = await ownerWith((socket) => socket.pipe(socket));
  let asked = 0;
  const piped = await pipeTo(() => (asked++ === 0 ? { host: HOST, port } : undefined));
  const socket = await connectTo(piped.port);
  await eventually(() => asked > 4);
  const echoed = new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
  socket.write("still");
  expect(await echoed).toBe("still");
});

test("when it is closed its connections end, its port is free, and it can be opened again", async () => {
  const owner = await ownerWith((socket) => socket.pipe(socket));
  const { pipe, port } = await pipeTo(() => ({ host: HOST, port: owner }));
  const socket = await connectTo(port);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()).on("error", () => undefined));
  socket.resume();
  socket.once("end", () => socket.end());
  await pipe.close();
  await closed;
  await expect(connectTo(port)).rejects.toThrow();
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(port, HOST, resolve));
  // Another program has the port now: a warning, no failure.
  await pipe.open();
  await new Promise((resolve) => blocker.close(resolve));
  await pipe.open();
  expect((await connectTo(port)).readyState).toBe("open");
});
