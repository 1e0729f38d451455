// Tests that a client can't choose the address under which it is counted.

import { describe, expect, test } from "bun:test";
import { isInNetworks, parseNetworks, rateLimitKey, resolveClientAddress } from "./client-address.ts";

const none = parseNetworks([]);
const proxies = parseNetworks(["10.0.0.0/8", "192.0.2.1", "fd00::/8"]);

describe("the client's address", () => {
  test.each([
    ["without proxies the header means nothing", "203.0.113.7", "1.1.1.1", none, "203.0.113.7"],
    ["a socket that is no proxy is believed over its header", "203.0.113.7", "1.1.1.1", proxies, "203.0.113.7"],
    ["a proxy's word counts", "10.0.0.1", "203.0.113.7", proxies, "203.0.113.7"],
    ["what the caller put in front does not", "10.0.0.1", "1.1.1.1, 203.0.113.7", proxies, "203.0.113.7"],
    [
      "several proxies are walked through",
      "10.0.0.1",
      "1.1.1.1, 203.0.113.7, 192.0.2.1,10.1.1.1",
      proxies,
      "203.0.113.7",
    ],
    ["only proxies: the leftmost", "10.0.0.1", "10.0.0.3, 10.0.0.2", proxies, "10.0.0.3"],
    ["no header: the proxy itself", "10.0.0.1", null, proxies, "10.0.0.1"],
    ["rubbish ends the search", "10.0.0.1", "203.0.113.7, unknown, 10.0.0.2", proxies, "10.0.0.2"],
    ["odd spellings are rubbish", "10.0.0.1", "0x01010101", proxies, "10.0.0.1"],
    ["an empty header is none", "10.0.0.1", "", proxies, "10.0.0.1"],
    ["ports are left out", "10.0.0.1", "203.0.113.7:4711", proxies, "203.0.113.7"],
    ["brackets, quotes and ports too", "fd00::1", '"[2001:DB8::1]:443"', proxies, "2001:db8::1"],
    ["a mapped socket address is IPv4", "::ffff:10.0.0.1", "203.0.113.7", proxies, "203.0.113.7"],
    ["a mapped entry is IPv4", "10.0.0.1", "::ffff:203.0.113.7", proxies, "203.0.113.7"],
    ["a zone is left out", "fe80::1%eth0", null, none, "fe80::1"],
  ])("%s", (_name, socket, header, trusted, expected) => {
    expect(resolveClientAddress(socket, header, trusted)).toBe(expected);
  });

  test("of a very long header, only the right end is read", () => {
    const header = `${"1.1.1.1,".repeat(20_000)} 203.0.113.7`;
    expect(resolveClientAddress("10.0.0.1", header, proxies)).toBe("203.0.113.7");
  });
});

describe("networks", () => {
  test("match addresses of the same family, in any spelling", () => {
    expect(isInNetworks("10.255.0.1", proxies)).toBe(true);
    expect(isInNetworks("::ffff:10.255.0.1", proxies)).toBe(true);
    expect(isInNetworks("11.0.0.1", proxies)).toBe(false);
    expect(isInNetworks("192.0.2.2", proxies)).toBe(false);
    expect(isInNetworks("fd12::1", proxies)).toBe(true);
    expect(isInNetworks("not an address", proxies)).toBe(false);
  });
});

describe("rate limit keys", () => {
  test("IPv6 counts per /64, IPv4 per address, in any spelling", () => {
    expect(rateLimitKey("203.0.113.7")).toBe("203.0.113.7");
    expect(rateLimitKey("::ffff:203.0.113.7")).toBe("203.0.113.7");
    expect(rateLimitKey("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
    expect(rateLimitKey("2001:db8:1:2::9")).toBe("2001:db8:1:2::/64");
    expect(rateLimitKey("2001:db8:1:3::9")).not.toBe(rateLimitKey("2001:db8:1:2::9"));
    expect(rateLimitKey("::1")).toBe("0:0:0:0::/64");
  });

  test("text that is not an address is its own key, and many addresses take bounded memory", () => {
    expect(rateLimitKey("odd:text")).toBe("odd:text");
    for (let i = 0; i < 30_000; i++) rateLimitKey(`2001:db8:${(i % 65_536).toString(16)}::1`);
    expect(rateLimitKey("2001:db8:5::1")).toBe("2001:db8:5:0::/64");
  });
});
