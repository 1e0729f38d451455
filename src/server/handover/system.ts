// What handing sockets over needs of Linux: which descriptors are sockets of a port, what the event loop polls, and execve.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Environment } from "../../kernel/config/config.ts";
import { openCLibrary } from "../c-library.ts";

/** A descriptor that an epoll instance watches, as /proc/self/fdinfo tells it (proc_pid_fdinfo(5)). */
export interface Poll {
  epoll: number;
  events: number;
  /** What the event loop finds its own object by. */
  data: bigint;
}

export interface Socket {
  descriptor: number;
  localPort: number;
  /** Undefined for one that listens. */
  peer: string | undefined;
  poll: Poll;
}

export const EPOLLIN = 1;
export const EPOLLOUT = 4;
const [EPOLL_CTL_ADD, EPOLL_CTL_MOD] = [1, 3];
/** The kernel adds them itself. */
const EPOLLERR_HUP = 0x18;
const [F_SETFD, FD_CLOEXEC] = [2, 1];
const [SOL_SOCKET, SO_ACCEPTCONN, IPPROTO_TCP, TCP_DEFER_ACCEPT] = [1, 30, 6, 9];
const [AF_INET, AF_INET6, SOCK_STREAM, SOCK_CLOEXEC] = [2, 10, 1, 0o2000000];
/** `struct sockaddr_storage`. */
const ADDRESS_BYTES = 128;

const nameFunction = { args: ["i32", "ptr", "ptr"], returns: "i32" } as const;

export type System = NonNullable<Awaited<ReturnType<typeof openSystem>>>;

/** Undefined on another system than Linux, or without a C library that can be loaded. */
export async function openSystem() {
  if (process.platform !== "linux") return undefined;
  const libc = await openCLibrary({
    getsockname: nameFunction,
    getpeername: nameFunction,
    getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
    setsockopt: { args: ["i32", "i32", "i32", "ptr", "i32"], returns: "i32" },
    fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
    dup2: { args: ["i32", "i32"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    connect: { args: ["i32", "ptr", "i32"], returns: "i32" },
    listen: { args: ["i32", "i32"], returns: "i32" },
    epoll_ctl: { args: ["i32", "i32", "i32", "ptr"], returns: "i32" },
    execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  });
  if (!libc) return undefined;
  const { ptr } = await import("bun:ffi");
  const address = new Uint8Array(ADDRESS_BYTES);
  const length = new Uint32Array(1);
  const number = new Int32Array(1);
  const epolls = epollDescriptors();

  /** Fills `address`; false if the descriptor is no socket of the internet. */
  function readName(name: "getsockname" | "getpeername", descriptor: number): boolean {
    length[0] = ADDRESS_BYTES;
    if (libc?.[name](descriptor, address, length) !== 0) return false;
    return address[0] === AF_INET || address[0] === AF_INET6;
  }

  const port = () => (address[2] ?? 0) * 256 + (address[3] ?? 0);

  function isListening(descriptor: number): boolean {
    length[0] = number.byteLength;
    return libc?.getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, number, length) === 0 && number[0] === 1;
  }

  function* polls(): Generator<[number, Poll]> {
    const pattern = /^tfd:\s*(\d+) events:\s*([\da-f]+) data:\s*([\da-f]+)/gm;
    for (const epoll of epolls) {
      for (const [, descriptor, events = "", data] of readFileSync(`/proc/self/fdinfo/${epoll}`, "utf8").matchAll(
        pattern,
      ))
        yield [
          Number(descriptor),
          { epoll, events: Number.parseInt(events, 16) & ~EPOLLERR_HUP, data: BigInt(`0x${data}`) },
        ];
    }
  }

  function control(operation: number, descriptor: number, { epoll, events, data }: Poll): boolean {
    // The structure is packed on x86-64 only.
    const isPacked = process.arch === "x64";
    const view = new DataView(new ArrayBuffer(isPacked ? 12 : 16));
    view.setUint32(0, events, true);
    view.setBigUint64(isPacked ? 4 : 8, data, true);
    return libc?.epoll_ctl(epoll, operation, descriptor, new Uint8Array(view.buffer)) === 0;
  }

  return {
    /** The sockets that the event loop watches and whose local port is one of these. */
    sockets(ports: ReadonlySet<number>): Socket[] {
      const found: Socket[] = [];
      for (const [descriptor, poll] of polls()) {
        if (!readName("getsockname", descriptor) || !ports.has(port())) continue;
        const localPort = port();
        if (isListening(descriptor)) found.push({ descriptor, localPort, peer: undefined, poll });
        else if (readName("getpeername", descriptor))
          found.push({ descriptor, localPort, peer: peerKey(addressText(address), port()), poll });
      }
      return found;
    },
    watch: (descriptor: number, poll: Poll) => control(EPOLL_CTL_MOD, descriptor, poll),
    /**
     * Puts another socket in the place of one that the event loop watches, which is closed. The loop goes on with the new one as if
     * it were the old one.
     */
    replace({ descriptor, poll }: Socket, by: number): boolean {
      if (libc.dup2(by, descriptor) < 0) return false;
      libc.fcntl(descriptor, F_SETFD, FD_CLOEXEC);
      libc.close(by);
      return control(EPOLL_CTL_ADD, descriptor, poll);
    },
    /** A connection to a port of this machine, and the port on its side. */
    connect(to: number): { descriptor: number; port: number } {
      const descriptor = libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const target = Uint8Array.of(AF_INET, 0, to >> 8, to & 255, 127, 0, 0, 1, ...new Uint8Array(8));
      if (descriptor < 0 || libc.connect(descriptor, target, target.length) !== 0)
        throw new Error("this machine can't be reached by 127.0.0.1");
      readName("getsockname", descriptor);
      return { descriptor, port: port() };
    },
    close: (descriptor: number) => void libc.close(descriptor),
    /** The longest queue of connections that wait to be accepted. */
    lengthenQueue: (descriptor: number) => void libc.listen(descriptor, 65_535),
    /** Connections are accepted before they send something. */
    acceptSilent(descriptor: number): void {
      number[0] = 0;
      libc.setsockopt(descriptor, IPPROTO_TCP, TCP_DEFER_ACCEPT, number, number.byteLength);
    },
    /** Executes another program in this process, which keeps these descriptors and the standard ones. Returns only if that fails. */
    execute(file: string, args: readonly string[], env: Environment, kept: readonly number[]): void {
      const texts: Buffer[] = [];
      const pointers = (list: readonly string[]) =>
        BigUint64Array.from([
          ...list.map((text) => {
            const buffer = Buffer.from(`${text}\0`);
            texts.push(buffer);
            return BigInt(ptr(buffer));
          }),
          0n,
        ]);
      const [argv, envp] = [
        pointers(args),
        pointers(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))),
      ];
      for (const descriptor of kept) libc.fcntl(descriptor, F_SETFD, 0);
      libc.execve(Buffer.from(`${file}\0`), argv, envp);
      for (const descriptor of kept) libc.fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    },
  };
}

/** The same for an address as the system has it, and as Bun tells it. */
export const peerKey = (address: string, port: number) => `${address.replace(/^::ffff:/i, "")} ${port}`;

function addressText(bytes: Uint8Array): string {
  if (bytes[0] === AF_INET) return bytes.subarray(4, 8).join(".");
  const isMapped = bytes.subarray(8, 18).every((byte) => byte === 0) && bytes[18] === 255 && bytes[19] === 255;
  if (isMapped) return bytes.subarray(20, 24).join(".");
  const view = new DataView(bytes.buffer, bytes.byteOffset + 8, 16);
  const groups = Array.from({ length: 8 }, (_, group) => view.getUint16(group * 2).toString(16));
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

function epollDescriptors(): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`).includes("[eventpoll]");
      } catch {
        return false;
      }
    });
}
