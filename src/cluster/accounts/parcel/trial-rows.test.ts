import { expect, test } from "bun:test";
import { joinRows } from "./trial-rows.ts";

const insert = "INSERT INTO notes (id, text) VALUES (?, ?)";

test("runs of rows of one table are one statement, in their order", async () => {
  const others = { sql: "INSERT INTO others (id) VALUES (?)", args: [7] };
  const rows = [1, 2, 3].map((id) => ({ sql: insert, args: [id, `"${id}"`] }));
  expect(await joinRows([...rows, others, ...rows.slice(0, 1)])).toEqual([
    {
      sql: "INSERT INTO notes (id, text) SELECT value ->> 0, value ->> 1 FROM json_each(?)",
      args: ['[[1,"\\"1\\""],[2,"\\"2\\""],[3,"\\"3\\""]]'],
    },
    { sql: "INSERT INTO others (id) SELECT value ->> 0 FROM json_each(?)", args: ["[[7]]"] },
    {
      sql: "INSERT INTO notes (id, text) SELECT value ->> 0, value ->> 1 FROM json_each(?)",
      args: ['[[1,"\\"1\\""]]'],
    },
  ]);
});

test("what JSON does not have, and other statements, stay as they are", async () => {
  const bytes = { sql: insert, args: [1, new Uint8Array([1])] };
  const zero = { sql: insert, args: [2, "a\0b"] };
  const remove = { sql: "DELETE FROM notes WHERE id = ?", args: [3] };
  expect(await joinRows([bytes, zero, remove])).toEqual([bytes, zero, remove]);
});

test("a statement has a bounded number of rows", async () => {
  const rows = Array.from({ length: 2_500 }, (_, id) => ({ sql: insert, args: [id, null] }));
  expect((await joinRows(rows)).map(({ args }) => JSON.parse(String(args[0])).length)).toEqual([1_000, 1_000, 500]);
});
