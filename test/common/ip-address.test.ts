import { isIP } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressBlock, addressList, isLoopback, networkOf } from "../../src/common/ip-address.ts";

describe("a loopback host", () => {
  test.each([
    "localhost",
    "LOCALHOST",
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "[::1]",
  ])("%s is one", (host) => expect(isLoopback(host)).toBe(true));

  test.each([
    "0.0.0.0",
    "::",
    "10.0.0.1",
    "128.0.0.1",
    "::2",
    "::ffff:10.0.0.1",
    "example.test",
    "localhost.example.test",
    "127.1",
    "[::2]",
    "[::1",
    "",
  ])("%j is none", (host) => expect(isLoopback(host)).toBe(false));
});

describe("what counts as one client", () => {
  test.each([
    [undefined, "unix"],
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8:0:0:1:2:3:4", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0001::", "2001:db8:0:1::/64"],
    ["2001:db8:1:2:3:4:192.0.2.1", "2001:db8:1:2::/64"],
    ["2001:db8::192.0.2.1", "2001:db8:0:0::/64"],
    ["a1::b2:c3:d4:e5:192.0.2.1", "a1:0:b2:c3::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["a1:b2:c3:d4:e5:f6:7:8", "a1:b2:c3:d4::/64"],
    ["a1::8", "a1:0:0:0::/64"],
    ["::5:6:7:8", "0:0:0:0::/64"],
    ["::4:5:6:7:8", "0:0:0:4::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
    ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
  ])("%s is %s", (address, block) => {
    expect(addressBlock(address)).toBe(block);
  });

  test("or, counted more widely, those of one customer", () => {
    expect(addressBlock("2001:db8:1:2::3", 48)).toBe("2001:db8:1::/48");
    expect(addressBlock("192.0.2.1", 48)).toBe("192.0.2.1");
    expect(addressBlock(undefined, 48)).toBe("unix");
  });

  test("two addresses of one /64 are one, however they are written, and of two are two", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const groups = (size: number) => fc.array(group, { minLength: size, maxLength: size });
    const write = (all: readonly number[]) => all.map((each) => each.toString(16)).join(":");
    const short = (text: string) => new URL(`http://[${text}]`).hostname.slice(1, -1);
    fc.assert(
      fc.property(groups(4), groups(4), groups(4), (network, one, other) => {
        const [a, b] = [write([...network, ...one]), short(write([...network, ...other]))];
        expect(isIP(b)).toBe(6);
        // These are written as IPv4 addresses, which they are.
        if (b.startsWith("::ffff:")) return;
        expect(addressBlock(b)).toBe(addressBlock(a));
        expect(addressBlock(write([network[0]! ^ 1, ...network.slice(1), ...one]))).not.toBe(addressBlock(a));
      }),
    );
  });
});

describe("a list of addresses and networks", () => {
  const trusted = addressList(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "::1"]);

  test.each(["127.0.0.1", "10.255.0.1", "fd12::1", "::1", "::ffff:10.0.0.1"])("holds %s", (address) => {
    expect(trusted(address)).toBe(true);
  });

  test.each(["127.0.0.2", "11.0.0.1", "fe80::1", "::2", "", "example.test"])("does not hold %j", (address) => {
    expect(trusted(address)).toBe(false);
  });

  test.each(["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/8/8", "example.test", 4])(
    "%j is none",
    (entry) => expect(networkOf(entry)).toBeUndefined(),
  );
});
