// What one cell tells another about a request that belongs to it. The router takes it from the answer of the first cell and
// puts it beside the request for the second; it never reaches a client, and none is taken from one.

export interface Forwarding {
  /** Cell 0 has decided that a new account is made there. */
  isPlaced?: boolean;
  /** What the first cell has learned, as JSON, in the form that the route reads. */
  learned?: unknown;
}

/** Of the answer by which a cell says that a request belongs to another one: the number of that cell. */
export const ELSEWHERE_HEADER = "x-berth-elsewhere";
/** Of that answer, and of the request to the other cell. */
export const FORWARDING_HEADER = "x-berth-forwarding";

const forwardings = new WeakMap<Request, Forwarding>();

/** What another cell has sent along; undefined for a request that came here at once. */
export const forwardingOf = (request: Request): Forwarding | undefined => forwardings.get(request);

export const setForwarding = (request: Request, forwarding: Forwarding) => void forwardings.set(request, forwarding);

export const encodeForwarding = (forwarding: Forwarding) =>
  Buffer.from(JSON.stringify(forwarding)).toString("base64url");

export const decodeForwarding = (header: string): Forwarding =>
  JSON.parse(Buffer.from(header, "base64url").toString()) as Forwarding;

/** Known in this process alone: an answer of somebody else that is passed on (a model's, a server's) can't be taken for one. */
const proof = crypto.randomUUID();

/** The answer that sends a request on, with its body as it came. */
export function elsewhereResponse(
  cell: number,
  forwarding: Forwarding,
  body: string | Uint8Array<ArrayBuffer> | undefined,
): Response {
  const headers = { [ELSEWHERE_HEADER]: `${cell} ${proof}`, [FORWARDING_HEADER]: encodeForwarding(forwarding) };
  return new Response(body ?? null, { status: 421, headers });
}

/** The cell that an answer of this process sends a request on to. Of any other answer, headers of these names are removed. */
export function elsewhereOf({ headers }: Response): number | undefined {
  const [cell = "", given] = headers.get(ELSEWHERE_HEADER)?.split(" ") ?? [];
  if (given === proof) return Number(cell);
  for (const name of [ELSEWHERE_HEADER, FORWARDING_HEADER]) if (headers.has(name)) headers.delete(name);
  return undefined;
}
