// Tests which addresses count as read, and which as made up.
import { describe, expect, test } from "bun:test";
import { isVerbatimIn } from "./verbatim.ts";

const PAGE =
  'See [the guide](https://tea.example.com/guide/green?cup=2#top), "http://leaf.example.com/a/", or orf.example.org.';

describe("an address that stands in a text", () => {
  test.each([
    "https://tea.example.com/guide/green?cup=2",
    "https://tea.example.com/guide/green?cup=2#other",
    "http://tea.example.com/guide/green?cup=2",
    "https://leaf.example.com/a",
    "http://leaf.example.com/a/",
    "https://orf.example.org",
    "https://orf.example.org/",
    // The site of an address that was read.
    "https://tea.example.com/",
  ])("%s", (address) => expect(isVerbatimIn(["nothing", PAGE], address)).toBe(true));
});

describe("an address that somebody made up", () => {
  test.each([
    "https://tea.example.com/guide/green?cup=2&secret=berth",
    "https://tea.example.com/guide/green?cup=22",
    "https://tea.example.com/guide/green",
    "https://tea.example.com/guide/green/berth",
    "https://berth.tea.example.com/",
    "https://berth:word@tea.example.com/guide/green?cup=2",
    "https://ea.example.com/guide/green?cup=2",
    "https://tea.example.com.evil.example.org/",
    "https://orf.example.org/?secret",
    "https://tea.example.com/?berth",
    "",
  ])("%s", (address) => expect(isVerbatimIn([PAGE], address)).toBe(false));
});

test("another text stands there as a whole, or not at all", () => {
  const list = ["notes://tea – tea\nnotes://cups – cups"];
  expect(isVerbatimIn(list, "notes://tea")).toBe(true);
  for (const made of ["notes://te", "notes://tea?secret", "notes://secret"])
    expect(isVerbatimIn(list, made)).toBe(false);
});
