// Who may connect, how many at once and how often.
import { expect, test } from "bun:test";
import { createDoor } from "./door.ts";

test("sixteen wait of one address, 128 in all", () => {
  const door = createDoor();
  const enter = (address: string) => Array.from({ length: 20 }, () => door.enter(address)).filter(Boolean).length;
  expect(enter("192.0.2.1")).toBe(16);
  expect(enter("192.0.2.2")).toBe(16);
  for (let n = 3; n <= 12; n++) enter(`192.0.2.${n}`);
  expect(door.waiting).toBe(128);
  expect(door.enter("198.51.100.1")).toBe(false);
  door.leave("192.0.2.1", false);
  expect(door.enter("198.51.100.1")).toBe(true);
});

test("thirty in a minute that were not let in; an IPv6 network counts as one", () => {
  let now = 0;
  const door = createDoor(() => now);
  let entered = 0;
  for (let n = 0; n < 100; n++) {
    const address = `2001:db8::${n.toString(16)}`;
    if (!door.enter(address)) continue;
    entered++;
    door.leave(address, false);
  }
  expect(entered).toBe(30);
  now = 60_001;
  expect(door.enter("2001:db8::1")).toBe(true);
});

test("who is let in may come as often as it likes", () => {
  const door = createDoor();
  for (let n = 0; n < 200; n++) {
    expect(door.enter("192.0.2.1")).toBe(true);
    door.leave("192.0.2.1", true);
  }
});
