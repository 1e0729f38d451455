// The examples of the API documents are true: the program answers the same requests alike, and each fits its schema.
import { beforeAll, expect, test } from "bun:test";
import { readExamples } from "../../src/server/api/api-examples.ts";
import { differences } from "./check.ts";
import { runTour, type TourResult } from "./run-tour.ts";

let tour: TourResult;
beforeAll(async () => {
  tour = await runTour();
});

test("every scenario goes to its end", () => {
  expect(tour.broken).toEqual([]);
});

test.each(["web", "backend"] as const)("on the %s, every operation has a true example", async (side) => {
  const found = differences(side, tour.documents[side], await readExamples(side), tour.recorded[side]);
  expect(found.map(({ message }) => message)).toEqual([]);
});

test("no example has a field that its route doesn't know", () => {
  const warned = (["web", "backend"] as const).flatMap((side) =>
    Object.entries(tour.recorded[side])
      .filter(([, examples]) => JSON.stringify(examples).includes("This was ignored"))
      .map(([operation, [example]]) => ({ side, operation, example })),
  );
  expect(warned).toEqual([]);
});
