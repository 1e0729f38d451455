// Says where the database names the person of an erasure while it is under way: sealed, for the rotation of the root key.
import type { SealedColumn } from "../../../src/kernel/security/key-rotation.ts";

export const subjectContext = (id: string) => `erasure:${id}:subject`;

export const SUBJECTS: SealedColumn = {
  label: "erasures under way",
  table: "erasures",
  keyColumns: ["id"],
  sealed: "subject",
  where: "subject IS NOT NULL",
  sealContext: ({ id }) => subjectContext(String(id)),
};
