// Finds the connections that this process has accepted, and closes them. Bun.serve shows a connection only once it has
// sent a whole request, so the system is asked.
import { openCLibrary } from "../c-library.ts";

export interface AcceptedSocket {
  readonly descriptor: number;
  /** The other side's address. */
  readonly address: string;
}

export interface AcceptedSockets {
  /** Returns those of the descriptors that are connections to one of the local ports. */
  list(descriptors: readonly number[], localPorts: ReadonlySet<number>): AcceptedSocket[];
  /**
   * Ends a connection in both directions. The event loop then finds it closed and releases the descriptor; closing it here
   * would let the system give the number to another file that the loop takes for the connection.
   */
  shutDown(socket: AcceptedSocket): void;
}

/** `struct sockaddr` has this size at most (`sockaddr_storage`). */
const ADDRESS_BYTES = 128;
const AF_INET = 2;
const AF_INET6 = process.platform === "darwin" ? 30 : 10;
const SHUT_RDWR = 2;

const nameFunction = { args: ["i32", "ptr", "ptr"], returns: "i32" } as const;

/** Returns undefined if the system has no C library that can be loaded. */
export async function openAcceptedSockets(): Promise<AcceptedSockets | undefined> {
  const libc = await openCLibrary({
    getsockname: nameFunction,
    getpeername: nameFunction,
    shutdown: { args: ["i32", "i32"], returns: "i32" },
  });
  if (!libc) return undefined;
  const bytes = new Uint8Array(ADDRESS_BYTES);
  const length = new Uint32Array(1);

  /** Fills `bytes` with one of the two addresses of a socket. */
  function read(name: "getsockname" | "getpeername", descriptor: number): boolean {
    length[0] = ADDRESS_BYTES;
    return libc?.[name](descriptor, bytes, length) === 0;
  }

  return {
    list(descriptors, localPorts) {
      const found: AcceptedSocket[] = [];
      for (const descriptor of descriptors) {
        // A listening socket has no peer.
        if (!read("getsockname", descriptor) || !isInternet(bytes) || !localPorts.has(portOf(bytes))) continue;
        if (read("getpeername", descriptor)) found.push({ descriptor, address: addressOf(bytes) });
      }
      return found;
    },
    shutDown: ({ descriptor }) => void libc.shutdown(descriptor, SHUT_RDWR),
  };
}

/** macOS has the length in the first byte and the family in the second, Linux the family in both (low byte first). */
const familyOf = (bytes: Uint8Array) => bytes[process.platform === "darwin" ? 1 : 0];

const isInternet = (bytes: Uint8Array) => familyOf(bytes) === AF_INET || familyOf(bytes) === AF_INET6;

const portOf = ([, , high = 0, low = 0]: Uint8Array) => high * 256 + low;

function addressOf(bytes: Uint8Array): string {
  if (familyOf(bytes) === AF_INET) return bytes.subarray(4, 8).join(".");
  const view = new DataView(bytes.buffer, 8, 16);
  return Array.from({ length: 8 }, (_, group) => view.getUint16(group * 2).toString(16)).join(":");
}
