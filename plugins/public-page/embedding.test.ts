// Tests which sites may show a public page in a frame, and that conversations there last.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPublicPageFixture, type PublicPageFixture, type TestAgent } from "./support.test.ts";

let pageFixture: PublicPageFixture;
beforeAll(async () => {
  pageFixture = await openPublicPageFixture();
});
afterAll(() => pageFixture[Symbol.asyncDispose]());

const put = (agent: TestAgent, body: object) =>
  pageFixture.ada.put<{ embedOrigins: string[] }>(`/api/agents/${agent.id}/public`, { enabled: true, ...body });
const policyOf = async (agent: TestAgent) =>
  (await pageFixture.visitor().getPage(`/a/${agent.subdomain}`)).headers.get("content-security-policy");

test("only the sites that the owner names may show the page, and only while visitors may talk", async () => {
  const agent = await pageFixture.createOpenAgent();
  expect(await policyOf(agent)).toContain("frame-ancestors 'none'");
  const embedOrigins = ["www.example.com", "https://shop.example.com:8443/", "localhost:4000", "www.example.com"];
  const { status, body } = await put(agent, { embedOrigins });
  const origins = ["https://www.example.com", "https://shop.example.com:8443", "http://localhost:4000"];
  expect({ status, body }).toMatchObject({ status: 200, body: { embedOrigins: origins } });
  expect((await put(agent, { greeting: "Ahoy" })).body.embedOrigins).toEqual(origins);
  expect(await policyOf(agent)).toContain(`frame-ancestors ${origins.join(" ")};`);
  await put(agent, { enabled: false });
  expect(await policyOf(agent)).toContain("frame-ancestors 'none'");
});

test.each([
  ["https://*.example.com"],
  ["https://www.example.com/page"],
  ["http://www.example.com"],
  ["https://user@www.example.com"],
  ["javascript:alert(1)"],
  ["https://[::1]"],
  ["'self'"],
  ["https://a.example; script-src *"],
  [""],
])("refuses %p as a site", async (origin) => {
  const agent = await pageFixture.createOpenAgent();
  const refused = await put(agent, { embedOrigins: ["https://www.example.com", origin] });
  expect(refused).toMatchObject({ status: 400, body: { issues: [{ path: "embedOrigins.1" }] } });
  expect(await policyOf(agent)).toContain("frame-ancestors 'none'");
});

test("a visitor in a frame keeps the conversation, by a cookie for that site alone", async () => {
  const agent = await pageFixture.createOpenAgent();
  const send = () => pageFixture.visitor().sendMessage(agent, "hello");
  expect((await send()).setCookie).toContain("SameSite=Strict");
  await put(agent, { embedOrigins: ["https://www.example.com"] });
  expect((await send()).setCookie).toEndWith("; HttpOnly; SameSite=None; Partitioned; Secure");
});
