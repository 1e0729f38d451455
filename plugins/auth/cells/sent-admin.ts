// Lets an admin act on accounts and agents of other cells: the cell of the admin checks the credential, and sends the request on
// with the identity.
import { type Cells, Elsewhere } from "../../../src/kernel/cells/cells.ts";
import { forwardingOf } from "../../../src/kernel/cells/forwarding.ts";
import { cellOfId } from "../../../src/kernel/cells/marks.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import { createRequestMemo } from "../../../src/kernel/http/request-context.ts";
import type { Scope } from "../api-keys/api-keys.ts";
import type { Identity } from "../identity.ts";

interface Learned {
  admin?: Omit<Identity, "scopes"> & { scopes: Scope[] };
}

const ID = /\/[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?:\/|$)/;
const identities = createRequestMemo<Identity>();

/** The admin whom another cell has authenticated for this request. */
export function sentAdmin(request: Request): Identity | undefined {
  const { admin } = (forwardingOf(request)?.learned ?? {}) as Learned;
  if (!admin) return undefined;
  return identities.get(request) ?? identities.set(request, { ...admin, scopes: new Set(admin.scopes) });
}

/** Throws `Elsewhere` if the path names something of another cell, or the query asks for `cell`; 404 without such a cell. */
export async function sendToCell(
  cells: Cells,
  request: Request,
  { scopes, user, ...identity }: Identity,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url);
  const asked = searchParams.get("cell");
  const id = ID.exec(pathname)?.[0].replaceAll("/", "");
  const named = id === undefined ? cells.here : ((await cells.movedTo([id])) ?? cellOfId(id));
  // Cell 0 answers for what a cell made that was removed.
  const answering = named === cells.here || cells.others.includes(named) ? named : 0;
  const cell = asked === null ? answering : Number(asked);
  if (cell === cells.here) return;
  if (!cells.others.includes(cell)) throw notFound("There is no such cell.", "CELL_NOT_FOUND");
  // The hash of the password stays where it is.
  const learned: Learned = { admin: { ...identity, user: { ...user, passwordHash: null }, scopes: [...scopes] } };
  throw new Elsewhere(cell, { learned });
}
