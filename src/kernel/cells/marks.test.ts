// Tests that marks name their cell, and that what has none is of cell 0.
import { describe, expect, test } from "bun:test";
import { randomToken } from "../util/tokens.ts";
import { createMarks } from "./create-marks.ts";
import { cellOfId, cellOfLabel, cellOfToken, MAX_CELLS, withoutMark } from "./marks.ts";

const CELLS = [1, 2, 63, 64, 65, 960, 961, 2047, MAX_CELLS - 1];

describe("an id", () => {
  test("names its cell, also within a path", () => {
    for (const cell of CELLS) {
      const id = createMarks(cell).newId();
      expect(cellOfId(id)).toBe(cell);
      expect(cellOfId(`/api/agents/${id}/turns/7`)).toBe(cell);
    }
  });

  test("is a UUID of version 8, and one of version 7 in cell 0", () => {
    expect(createMarks(5).newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8005-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(createMarks(0).newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("keeps the order of time, also within a millisecond", () => {
    const { newId } = createMarks(9);
    const ids = Array.from({ length: 2_000 }, newId);
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("from before there were cells is of cell 0, whatever its free bits", () => {
    for (let n = 0; n < 5_000; n++) expect(cellOfId(Bun.randomUUIDv7())).toBe(0);
    expect(cellOfId("")).toBe(0);
    expect(cellOfId(crypto.randomUUID())).toBe(0);
  });
});

describe("a token", () => {
  test("names its cell by two characters, and can be told from the mark", () => {
    for (const cell of CELLS) {
      const token = randomToken();
      const marked = createMarks(cell).token(token);
      expect(marked).toHaveLength(token.length + 3);
      expect(cellOfToken(marked)).toBe(cell);
      expect(withoutMark(marked)).toBe(token);
    }
  });

  test("without a mark is of cell 0 and stays as it is", () => {
    for (const token of [randomToken(), "", "~", "~a", "a.b.c", createMarks(0).token("bk_x")]) {
      expect(cellOfToken(token)).toBe(0);
      expect(withoutMark(token)).toBe(token);
    }
  });
});

describe("a label", () => {
  test("names its cell by three more characters", () => {
    for (const cell of CELLS) expect(cellOfLabel(createMarks(cell).label("harbour-bot-abc234"), 6)).toBe(cell);
    expect(cellOfLabel("harbour-bot-abc234", 6)).toBe(0);
  });

  test("of another form is of cell 0", () => {
    for (const name of ["", "agent", "a-b", "x-abc234abcd", "x-abc234ab!", "x-abc234999"]) {
      expect(cellOfLabel(name, 6)).toBe(0);
    }
  });
});
