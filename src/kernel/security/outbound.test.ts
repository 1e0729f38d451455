// Tests that URLs of users are fetched only from checked addresses.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { createAuthority } from "../../../tests/support/certificates.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { appErrorOf } from "../../../tests/support/rejection.ts";
import { createOutbound, type OutboundOptions } from "./outbound.ts";

// Self-signed for good.test, valid for a hundred years, used here alone.
const CERT = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUOQQWUJkJeDSgIzBGpgTPOwte5SYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJZ29vZC50ZXN0MCAXDTI2MTEyMDEyMTMwMFoYDzIxMjYxMDI3
MTIxMzAwWjAUMRIwEAYDVQQDDAlnb29kLnRlc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARu/6xgjrmdx1j35VBJRenvVCroIez6mJeI6ZlazG20nj5HsmDp3Coc
ELi0FaSTFpI5G/SIhRAIjVDXHlMplCAFo2kwZzAdBgNVHQ4EFgQUlTEH/tmNO5BX
sQB+zWwxcvl3YuUwHwYDVR0jBBgwFoAUlTEH/tmNO5BXsQB+zWwxcvl3YuUwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglnb29kLnRlc3QwCgYIKoZIzj0EAwID
SAAwRQIgKii2mGSUFDxvgI0m+wNJvxs1/jsBTehs/2dSVItbcx0CIQD+LZcn32bK
3P6MMJUh4YNOU6t8hz81vmR0AksF25m/cQ==
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQRCPqni0OneZEySO
wXiaNXcQ2PqQ51ASi5DKhasjhOahRANCAARu/6xgjrmdx1j35VBJRenvVCroIez6
mJeI6ZlazG20nj5HsmDp3CocELi0FaSTFpI5G/SIhRAIjVDXHlMplCAF
-----END PRIVATE KEY-----`;

interface Seen {
  method: string;
  path: string;
  host: string | null;
  headers: Headers;
  body: string;
}

let server: Bun.Server<undefined>;
let secure: Bun.Server<undefined>;
let seen: Seen[] = [];
const cut = Promise.withResolvers<void>();

beforeAll(() => {
  const fetch = async (request: Request) => {
    const url = new URL(request.url);
    const { method, headers } = request;
    seen.push({ method, path: url.pathname, host: headers.get("host"), headers, body: await request.text() });
    const to = url.searchParams.get("to");
    if (to)
      return new Response("moved", {
        status: Number(url.searchParams.get("status") ?? 302),
        headers: { location: to },
      });
    if (url.pathname === "/hang") return new Promise<Response>(() => undefined);
    if (url.pathname === "/endless") {
      const chunk = new Uint8Array(65_536);
      return new Response(new ReadableStream({ pull: (c) => c.enqueue(chunk), cancel: () => cut.resolve() }));
    }
    if (url.pathname === "/bomb") {
      return new Response(gzipSync(new Uint8Array(50_000_000)), { headers: { "content-encoding": "gzip" } });
    }
    return new Response(`hello from ${url.pathname}`, { headers: { "x-served": "yes" } });
  };
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  secure = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch, tls: { cert: CERT, key: KEY } });
});
afterAll(async () => {
  await server.stop(true);
  await secure.stop(true);
});

/** Allows only 127.0.0.1, and resolves names from a table, which also counts lookups. */
function local(names: Record<string, string[]> = {}, options: Partial<OutboundOptions> = {}) {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return names[name] ?? [];
  };
  seen = [];
  return { outbound: createOutbound({ allow: ["127.0.0.1/32"], resolve, ...options }), asked };
}

async function failure(promise: Promise<unknown>): Promise<{ status: number; code: string; message: string }> {
  const { status, code, message } = await appErrorOf(promise);
  return { status, code, message };
}

describe("refused addresses", () => {
  const outbound = createOutbound({ allow: [], resolve: async () => ["127.0.0.1"] });
  test.each([
    "http://127.0.0.1/",
    "http://127.8.9.1:3000/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://198.18.0.1/",
    "http://240.0.0.1/",
    "http://192.0.2.1/",
    "http://[::]/",
    "http://[::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[ff02::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b:1::a00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[2001:db8::1]/",
    "http://[5f00::1]/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://2130706433/",
    "http://127.1/",
    "http://0x08080808/",
    "http://134744072/",
    "http://8.8.2056/",
    "http://１２７.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http://127.0.0.1./",
    "http://localhost./",
    "http://example.test./",
    "http://localhost/",
    "http://metadata.google.internal/",
    "http://user:pass@example.test/",
    "http://user@example.test/",
    "ftp://example.test/",
    "file:///etc/passwd",
    "gopher://example.test/",
    "data:text/plain,x",
  ])("%s", async (url) => {
    expect(await failure(outbound.fetch(url))).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
    expect(await failure(outbound.check(url))).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
  });

  test.each(["", "not an address", "http://", "http://[::1", "//example.test/"])("not a valid URL: %s", async (url) => {
    expect(await failure(outbound.fetch(url))).toMatchObject({ status: 400, code: "INVALID_ADDRESS" });
  });

  test("a name is refused if any of its addresses is", async () => {
    const { outbound: mixed } = local({
      "mixed.test": ["127.0.0.1", "10.0.0.1"],
      "odd.test": ["127.0.0.1", "nonsense"],
    });
    for (const host of ["mixed.test", "odd.test"]) {
      const error = await failure(mixed.fetch(`http://${host}:${server.port}/`));
      expect(error.code).toBe("ADDRESS_NOT_ALLOWED");
      expect(error.message).not.toContain("10.0.0.1");
    }
    expect(seen).toHaveLength(0);
  });

  test("public addresses pass the check", async () => {
    const open = createOutbound({ allow: [], resolve: async () => ["8.8.8.8", "2606:4700:4700::1111"] });
    await open.check("https://example.test/hook?x=1");
    await open.check("http://8.8.8.8/");
    await open.check("http://[2606:4700:4700::1111]/");
  });

  test("OUTBOUND_ALLOW opens a private network, also for mapped spellings", async () => {
    const open = createOutbound({ allow: ["10.0.0.0/8"], resolve: async () => ["10.9.9.9"] });
    await open.check("http://intranet.test/");
    await open.check("http://[::ffff:10.0.0.1]/");
    expect((await failure(open.check("http://11.0.0.1.test@10.0.0.1/"))).code).toBe("ADDRESS_NOT_ALLOWED");
  });

  test("with httpsOnly, plain http is allowed only to OUTBOUND_ALLOW", async () => {
    const { outbound } = local({ "own.test": ["127.0.0.1"], "shop.test": ["8.8.8.8"] });
    const own = await outbound.fetch(`http://own.test:${server.port}/a`, { httpsOnly: true });
    expect(own.text()).toBe("hello from /a");
    const error = await failure(outbound.fetch("http://shop.test/", { httpsOnly: true, timeoutMs: 500 }));
    expect(error).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
  });
});

describe("the connection", () => {
  test("goes to the checked address, with the name in the Host header, resolved once", async () => {
    const { outbound, asked } = local({ "good.test": ["127.0.0.1"] });
    const response = await outbound.fetch(`http://good.test:${server.port}/a?b=c`, { headers: { Host: "evil.test" } });
    expect(response).toMatchObject({ status: 200, ok: true, finalUrl: `http://good.test:${server.port}/a?b=c` });
    expect(response.text()).toBe("hello from /a");
    expect(response.headers.get("x-served")).toBe("yes");
    expect(seen[0]?.host).toBe(`good.test:${server.port}`);
    expect(asked).toEqual(["good.test"]);
  });

  test("is refused when a name that was public at the check is local at the request (DNS rebinding)", async () => {
    // What a hostile name server answers, one answer after the other.
    const answers = [["8.8.8.8"], ["127.0.0.2"], ["8.8.8.8", "127.0.0.2"], ["::ffff:127.0.0.2"], ["::1"], ["0.0.0.0"]];
    const { outbound } = local({}, { resolve: async () => answers.shift() ?? [] });
    await outbound.check(`http://rebind.test:${server.port}/`);
    while (answers.length > 0) {
      const error = await failure(outbound.fetch(`http://rebind.test:${server.port}/`));
      expect(error).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
    }
    expect(seen).toHaveLength(0);
  });

  test("stays with the checked address: the name is not resolved again for it, nor is a kept connection used for another name", async () => {
    const elsewhere: string[] = [];
    await using other = Bun.serve({
      hostname: "127.0.0.2",
      port: server.port ?? 0,
      fetch: ({ headers }) => {
        elsewhere.push(headers.get("host") ?? "");
        return new Response("not for you");
      },
    });
    // The second answer would lead to another server on this machine.
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const { outbound } = local({}, { resolve: async () => answers.shift() ?? [] });
    const url = `http://rebind.test:${server.port}/`;
    expect((await outbound.fetch(url)).text()).toBe("hello from /");
    expect((await failure(outbound.fetch(url))).code).toBe("ADDRESS_NOT_ALLOWED");
    expect([elsewhere, other.port]).toEqual([[], server.port]);
  });

  test("over TLS is checked against the name, not the address", async () => {
    const { outbound } = local({ "good.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] }, { ca: CERT });
    const response = await outbound.fetch(`https://good.test:${secure.port}/tls`);
    expect(response.text()).toBe("hello from /tls");
    // A connection that is kept alive for good.test is not used for another host.
    const error = await failure(outbound.fetch(`https://other.test:${secure.port}/`));
    const message = "The address can't be reached: its certificate is for another name.";
    expect(error).toMatchObject({ status: 502, code: "UPSTREAM_UNREACHABLE", message });
    expect(await failure(outbound.fetch(`https://127.0.0.1:${secure.port}/`))).toMatchObject({ status: 502 });
    expect(seen).toHaveLength(1);
  });

  test("over TLS needs a trusted certificate", async () => {
    const { outbound } = local({ "good.test": ["127.0.0.1"] });
    const error = await failure(outbound.fetch(`https://good.test:${secure.port}/`));
    expect(error).toMatchObject({
      status: 502,
      code: "UPSTREAM_UNREACHABLE",
      message: "The address can't be reached: its certificate is signed by no authority that is known here.",
    });
  });

  test("over TLS needs a certificate that has not expired", async () => {
    const dir = temporaryDir();
    const authority = await createAuthority(dir.path);
    const tls = await authority.issue(0);
    await using expired = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("no"), tls });
    const { outbound } = local({}, { ca: await Bun.file(authority.file).text() });
    const error = await failure(outbound.fetch(`https://127.0.0.1:${expired.port}/`));
    expect(error).toMatchObject({ message: "The address can't be reached: its certificate has expired." });
    dir.remove();
  });

  test("tries the next address if one refuses the connection", async () => {
    const allow = ["127.0.0.0/8", "::1/128"];
    const { outbound } = local({ "two.test": ["::1", "127.0.0.1"] }, { allow });
    const response = await outbound.fetch(`http://two.test:${server.port}/`, { method: "POST", body: "once" });
    expect(response.status).toBe(200);
    expect(seen.map(({ body }) => body)).toEqual(["once"]);
  });

  test("that all addresses refuse, and an unknown name, are 502", async () => {
    const { outbound } = local();
    const free = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    await free.stop(true);
    expect(await failure(outbound.fetch(`http://127.0.0.1:${free.port}/`))).toMatchObject({ status: 502 });
    expect(await failure(outbound.fetch("http://unknown.test/"))).toMatchObject({ code: "UPSTREAM_UNREACHABLE" });
    const failing = createOutbound({ allow: [], resolve: () => Promise.reject(new Error("SERVFAIL from 10.0.0.53")) });
    expect(await failure(failing.fetch("http://x.test/"))).toMatchObject({ message: "The address can't be reached." });
  });
});

describe("redirects", () => {
  const to = (path: string, target: string, status = 302) =>
    `${path}?status=${status}&to=${encodeURIComponent(target)}`;

  test("are followed, each with its own check", async () => {
    const { outbound, asked } = local({ "good.test": ["127.0.0.1"] });
    const start = `http://127.0.0.1:${server.port}`;
    const response = await outbound.fetch(start + to("/a", `http://good.test:${server.port}${to("/b", "c")}`));
    expect(response.finalUrl).toBe(`http://good.test:${server.port}/c`);
    expect(asked).toEqual(["good.test", "good.test"]);
  });

  test.each([
    "http://10.0.0.1/",
    "http://169.254.169.254/",
    "file:///etc/passwd",
    "http://2130706433/",
    "http://2130706434/127.0.0.2",
    "http://0x7f000002/",
    "http://0177.0.0.2/",
    "http://127.2/",
    "http://127.0.0.2/",
    "http://127.0.0.2./",
    "http://[::1]/",
    "http://[::ffff:127.0.0.2]/",
    "http://[::ffff:7f00:2]/",
    "http://[64:ff9b::7f00:2]/",
    "http://localhost./",
    "http://rebind.test/",
    "//127.0.0.2/",
    "\\\\127.0.0.2\\",
    "http://good.test@127.0.0.2/",
    "http://good.test\\@127.0.0.2/",
    "http://a:b@h.test/",
    "javascript:alert(1)",
  ])("to a forbidden address are refused: %s", async (target) => {
    const { outbound } = local({ "rebind.test": ["127.0.0.2"], "good.test": ["10.0.0.1"] });
    const error = await failure(outbound.fetch(`http://127.0.0.1:${server.port}${to("/", target)}`));
    expect(error).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
    expect(seen).toHaveLength(1);
  });

  test("keep credentials on the same origin and drop them on another", async () => {
    const { outbound } = local({ "good.test": ["127.0.0.1"] });
    const headers = { authorization: "Bearer x", cookie: "a=b", "x-token": "t", accept: "text/html" };
    await outbound.fetch(`http://127.0.0.1:${server.port}${to("/", "/same")}`, { headers });
    expect(seen[1]?.headers.get("authorization")).toBe("Bearer x");
    await outbound.fetch(`http://127.0.0.1:${server.port}${to("/", `http://good.test:${server.port}/other`)}`, {
      headers,
    });
    const last = seen[3]?.headers;
    expect(last?.get("accept")).toBe("text/html");
    for (const name of ["authorization", "cookie", "x-token"]) expect(last?.get(name)).toBeNull();
  });

  test("303 and 302 after a POST continue with GET and no body; 307 sends the body again", async () => {
    const { outbound } = local();
    const init = { method: "POST", body: "data", headers: { "content-type": "text/plain" } };
    for (const status of [302, 303, 307]) {
      await outbound.fetch(`http://127.0.0.1:${server.port}${to("/", "/next", status)}`, init);
    }
    const next = seen.filter(({ path }) => path === "/next");
    expect(next.map(({ method, body }) => [method, body])).toEqual([
      ["GET", ""],
      ["GET", ""],
      ["POST", "data"],
    ]);
    expect(next[0]?.headers.get("content-type")).toBeNull();
  });

  test("are returned with maxRedirects 0, and throw if there are too many", async () => {
    const { outbound } = local();
    const url = `http://127.0.0.1:${server.port}${to("/", "/next")}`;
    expect(await outbound.fetch(url, { maxRedirects: 0 })).toMatchObject({ status: 302, ok: false });
    expect(seen).toHaveLength(1);
    const loop = `http://127.0.0.1:${server.port}${to("/", "")}`.replace(
      "to=",
      `to=${encodeURIComponent("?to=%3Fto%3Dx")}`,
    );
    expect(await failure(outbound.fetch(loop, { maxRedirects: 1 }))).toMatchObject({ code: "UPSTREAM_UNREACHABLE" });
  });
});

describe("limits", () => {
  test("a body that is too large closes the connection", async () => {
    const { outbound } = local();
    const error = await failure(outbound.fetch(`http://127.0.0.1:${server.port}/endless`, { maxBytes: 200_000 }));
    expect(error).toMatchObject({ status: 502, code: "UPSTREAM_TOO_LARGE" });
    await cut.promise;
  });

  test("with headOnly, no body is read", async () => {
    const { outbound } = local();
    const answer = await outbound.fetch(`http://127.0.0.1:${server.port}/endless`, { headOnly: true, maxBytes: 1 });
    expect({ status: answer.status, size: answer.bytes().length }).toEqual({ status: 200, size: 0 });
    const moved = `http://127.0.0.1:${server.port}/x?to=/endless`;
    expect((await outbound.fetch(moved, { headOnly: true, maxRedirects: 0 })).status).toBe(302);
  });

  test("a compressed body counts with its decompressed size", async () => {
    const { outbound } = local();
    const error = await failure(outbound.fetch(`http://127.0.0.1:${server.port}/bomb`));
    expect(error.code).toBe("UPSTREAM_TOO_LARGE");
  });

  test("one time limit covers headers, body and the resolver", async () => {
    const { outbound } = local();
    const base = `http://127.0.0.1:${server.port}`;
    const slow = createOutbound({ allow: [], resolve: () => new Promise(() => undefined) });
    const limits = { timeoutMs: 60, maxBytes: 1e12 };
    const attempts = [`${base}/hang`, `${base}/endless`].map((url) => outbound.fetch(url, limits));
    for (const error of await Promise.all([...attempts, slow.fetch("http://x.test/", limits)].map(failure))) {
      expect(error).toMatchObject({ status: 504, code: "UPSTREAM_TIMEOUT" });
    }
  });

  test("the caller's signal ends it with the caller's reason", async () => {
    const { outbound } = local();
    const controller = new AbortController();
    const attempt = outbound.fetch(`http://127.0.0.1:${server.port}/hang`, { signal: controller.signal });
    const reason = new Error("user went away");
    controller.abort(reason);
    expect(await attempt.catch((error: unknown) => error)).toBe(reason);
  });
});

describe("a stream", () => {
  const read = async (response: Response) => new TextDecoder().decode(await response.arrayBuffer());

  test("is checked like any fetch, and goes to the checked address", async () => {
    const { outbound, asked } = local({ "good.test": ["127.0.0.1"], "bad.test": ["10.0.0.1"] });
    const init = { method: "POST", body: "data", headers: { "content-type": "text/plain", host: "evil.test" } };
    const response = await outbound.stream(`http://good.test:${server.port}/a`, init);
    expect([response.status, response.headers.get("x-served"), await read(response)]).toEqual([
      200,
      "yes",
      "hello from /a",
    ]);
    expect([seen[0]?.host, seen[0]?.body, asked]).toEqual([`good.test:${server.port}`, "data", ["good.test"]]);
    for (const url of ["http://bad.test/", "http://169.254.169.254/", "file:///etc/passwd"]) {
      expect(await failure(outbound.stream(url))).toMatchObject({ status: 400, code: "ADDRESS_NOT_ALLOWED" });
    }
  });

  test("returns a redirect as it is", async () => {
    const { outbound } = local();
    const response = await outbound.stream(`http://127.0.0.1:${server.port}/?to=http://10.0.0.1/`);
    expect([response.status, response.headers.get("location")]).toEqual([302, "http://10.0.0.1/"]);
    expect(seen).toHaveLength(1);
  });

  test("fails after its limit of decompressed bytes", async () => {
    const { outbound } = local();
    for (const path of ["endless", "bomb"]) {
      const response = await outbound.stream(`http://127.0.0.1:${server.port}/${path}`, { maxBytes: 200_000 });
      expect(await failure(read(response))).toMatchObject({ status: 502, code: "UPSTREAM_TOO_LARGE" });
    }
  });

  test("has a time limit for its headers, and ends with the caller's signal", async () => {
    const { outbound } = local();
    const base = `http://127.0.0.1:${server.port}`;
    expect(await failure(outbound.stream(`${base}/hang`, { timeoutMs: 60 }))).toMatchObject({
      code: "UPSTREAM_TIMEOUT",
    });
    const controller = new AbortController();
    const reason = new Error("user went away");
    const response = await outbound.stream(`${base}/endless`, { signal: controller.signal, maxBytes: 1e12 });
    controller.abort(reason);
    expect(await read(response).catch((error: unknown) => error)).toBe(reason);
  });
});
