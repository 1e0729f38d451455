// Tests the page for frames: who may show it, what it may do, and that a hostile name stays text.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OWN } from "../public-page/support.test.ts";
import { type EmbedFixture, OTHER_SHOP, openEmbedFixture, SHOP } from "./support.test.ts";

const HOSTILE = `</script><script>alert(1)</script>" onload="alert(2)`;

let embed: EmbedFixture;
beforeAll(async () => {
  embed = await openEmbedFixture();
});
afterAll(() => embed[Symbol.asyncDispose]());

const open = (path: string, language = "en") =>
  embed.request("GET", path, { accept: "text/html", "accept-language": language });
const directive = (headers: Headers, name: string) =>
  headers
    .get("content-security-policy")
    ?.split("; ")
    .find((one) => one.startsWith(`${name} `));

test("only the agent's sites may show it, and its script reaches only the agent's messages", async () => {
  const { subdomain } = await embed.createEmbedded();
  const { status, headers, text } = await open(`/embed/${subdomain}`);
  expect(status).toBe(200);
  expect(directive(headers, "frame-ancestors")).toBe(`frame-ancestors ${SHOP} ${OTHER_SHOP}`);
  expect(directive(headers, "connect-src")).toBe(
    `connect-src ${OWN}/api/embed/${subdomain}/messages ${OWN}/api/embed/${subdomain}/stop`,
  );
  expect(directive(headers, "script-src")?.replace(/ +/g, " ")).toBe(`script-src ${OWN}/embed.js`);
  expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(headers.get("set-cookie")).toBeNull();
  expect(text).toContain("needs JavaScript");
  expect((await open(`/embed/${subdomain}`, "de")).text).toContain('<html lang="de">');
  expect((await open(`/embed/${subdomain}?lang=de`)).text).toContain("Schreib eine Nachricht");
});

test("there is none for an agent without sites, nor for nobody", async () => {
  const plain = await embed.createOpenAgent();
  for (const name of [plain.subdomain, "nobody", "..%2f..", "%00"]) {
    const { status, headers } = await open(`/embed/${name}`);
    expect([404, 400]).toContain(status);
    expect(headers.get("content-security-policy") ?? "frame-ancestors 'none'").toContain("frame-ancestors 'none'");
  }
});

test("what the owner has written, and what the address asks for, stays text", async () => {
  const { subdomain } = await embed.createEmbedded({ greeting: HOSTILE }, {}, HOSTILE.slice(0, 60));
  const query = new URLSearchParams({ theme: HOSTILE, accent: HOSTILE, lang: HOSTILE });
  const { text } = await open(`/embed/${subdomain}?${query}`);
  expect(text).not.toContain("<script>alert");
  expect(text).not.toContain('" onload');
  expect(text.match(/<script/g)).toHaveLength(1);
});

test("the preview shows no agent, can be shown by the console alone, and reaches nothing", async () => {
  const { headers, text } = await open("/embed/~preview", "de");
  expect(directive(headers, "frame-ancestors")).toBe(`frame-ancestors ${OWN}`);
  expect(headers.get("content-security-policy")).not.toContain("connect-src");
  expect(text).toContain("Schreib eine Nachricht");
});
