// The part of an object store that belongs to one cell.
import type { BlobStore } from "../engine.ts";

/** The blobs whose names begin with this, without it. */
export const blobsUnder = (blobs: BlobStore, under: string): BlobStore => ({
  put: (name, content) => blobs.put(under + name, content),
  get: (name) => blobs.get(under + name),
  remove: (name) => blobs.remove(under + name),
  list: async () =>
    (await blobs.list())
      .filter(({ name }) => name.startsWith(under))
      .map(({ name, size }) => ({ name: name.slice(under.length), size })),
  sweep: blobs.sweep,
});

/** Files of cell 0 have their paths for names, as before there were other cells. */
export const filesOfCell = (blobs: BlobStore, cell: number): BlobStore =>
  cell === 0 ? blobs : blobsUnder(blobs, `cell-${cell}/`);
