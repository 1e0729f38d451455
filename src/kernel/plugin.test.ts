// Tests the plugin host: plugins are built once, on first use, and errors name the plugin.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { placeMigratedDatabase } from "../../tests/support/migrated.ts";
import { temporaryDir } from "../../tests/support/process.ts";
import { loadConfig } from "./config/config.ts";
import { StartError } from "./errors.ts";
import { openKernel, type RunningKernel } from "./kernel.ts";
import { type Host, type Plugin, type PluginParts, plugin } from "./plugin.ts";
import { createHost } from "./plugin-host.ts";

const dir = temporaryDir();
let kernel: RunningKernel;
beforeAll(async () => {
  await placeMigratedDatabase(dir.path);
  kernel = await openKernel(loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error" }, { cwd: dir.path }));
});
afterAll(async () => {
  await kernel?.close();
  dir.remove();
});

const refusal = (use: () => unknown): string => {
  try {
    use();
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("It was not refused.");
};

describe("a host", () => {
  test("gives third-party plugins a service by its name, and lists the names in its error", () => {
    const base = plugin("base", () => ({ service: { made: true } }));
    const host = createHost(kernel);
    host.use(base);
    expect(host.named("base")).toEqual({ made: true });
    expect(refusal(() => host.named("nobody"))).toBe("There is no plugin nobody. The plugins are: base.");
  });

  test("builds each plugin once, after those that it uses, and gives all the same service", () => {
    const order: string[] = [];
    const base = plugin("base", () => {
      order.push("base");
      return { service: { made: order.length } };
    });
    const left = plugin("left", (host) => {
      const service = host.use(base);
      order.push("left");
      return { service };
    });
    const right = plugin("right", (host) => {
      order.push("right");
      return { service: { base: host.use(base), left: host.use(left) } };
    });
    const host = createHost(kernel);
    const { base: one, left: two } = host.use(right);
    expect(one).toBe(two);
    expect(host.use(base)).toBe(one);
    expect(order).toEqual(["right", "base", "left"]);
    expect(host.built.map(({ name }) => name)).toEqual(["base", "left", "right"]);
  });

  test("gives the kernel, and keeps a service that is undefined", () => {
    let setups = 0;
    const none = plugin("none", (host) => {
      setups++;
      expect(host.kernel).toBe(kernel);
      return { service: undefined };
    });
    const host = createHost(kernel);
    expect([host.use(none), host.use(none), setups]).toEqual([undefined, undefined, 1]);
  });

  test("refuses a cycle and names its path", () => {
    const first: Plugin<object> = plugin("first", (host: Host) => ({ service: { second: host.use(second) } }));
    const second: Plugin<object> = plugin("second", (host: Host) => ({ service: { third: host.use(third) } }));
    const third: Plugin<object> = plugin("third", (host: Host) => ({ service: { first: host.use(first) } }));
    const self: Plugin<object> = plugin("self", (host: Host) => ({ service: host.use(self) }));
    const host = createHost(kernel);
    expect(refusal(() => host.use(first))).toBe("Plugins use each other: first → second → third → first.");
    expect(refusal(() => host.use(self))).toBe("Plugins use each other: self → self.");
    expect(host.built).toEqual([]);
  });

  test("refuses two plugins of one name", () => {
    const host = createHost(kernel);
    host.use(plugin("twin", () => ({ service: {} })));
    expect(refusal(() => host.use(plugin("twin", () => ({ service: {} }))))).toContain(
      "Two plugins have the name twin",
    );
    const outer = plugin("outer", (inner) => ({ service: inner.use(plugin("outer", () => ({ service: {} }))) }));
    expect(refusal(() => host.use(outer))).toContain("Two plugins have the name outer");
  });

  test("names the plugin whose setup failed, at any depth, and can be used again", () => {
    let broken = true;
    const deep = plugin("deep", () => {
      if (broken) throw new TypeError("no harbour");
      return { service: "built" };
    });
    const top = plugin("top", (host) => ({ service: host.use(deep) }));
    const host = createHost(kernel);
    expect(refusal(() => host.use(top))).toBe("The plugin deep can't be set up: no harbour");
    broken = false;
    expect(host.use(top)).toBe("built");
    const odd = plugin("odd", () => {
      throw "just a text";
    });
    expect(refusal(() => host.use(odd))).toBe("The plugin odd can't be set up: just a text");
  });

  test("refuses a setup that returns a promise, and parts of another kind, each with what to do", () => {
    const wrong = (name: string, parts: unknown) =>
      refusal(() => createHost(kernel).use({ name, setup: () => parts as PluginParts<unknown> }));
    expect(wrong("later", Promise.resolve({ service: {} }))).toBe(
      "The plugin later can't be set up: its setup returned a promise. Make it a plain function, and do in start what has to be waited for.",
    );
    expect(wrong("later", Promise.reject(new Error("no harbour")))).toContain("returned a promise");
    expect(wrong("none", undefined)).toBe(
      "The plugin none can't be set up: its setup did not return its parts, an object.",
    );
    expect(wrong("bare", { web: {} })).toBe(
      "The plugin bare can't be set up: its web is no routes. Give new Elysia() with routes, or leave it out.",
    );
    expect(wrong("bare", { backend: () => undefined })).toContain("its backend is no routes");
    expect(wrong("bare", { lateRoutes: { web: {} } })).toBe(
      "The plugin bare can't be set up: its lateRoutes.web is no list of functions that return routes.",
    );
    expect(wrong("bare", { start: Promise.resolve() })).toBe(
      "The plugin bare can't be set up: its start is no function.",
    );
  });
});
