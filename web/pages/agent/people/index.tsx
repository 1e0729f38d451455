// The people who wrote to an agent: a copy of what it has of each, their erasure, and the receipts of those who were erased.

import { People } from "./people.tsx";
import { Receipts } from "./receipts.tsx";

export default function PeoplePage() {
  return (
    <>
      <People />
      <Receipts />
    </>
  );
}
