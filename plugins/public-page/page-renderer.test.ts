// Tests an agent's public page over HTTP: the card without private data, its policy, and the owner's switch for the chat.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { DOMAIN, OWN, openPublicPageFixture, type PublicPageFixture } from "./support.test.ts";

let pageFixture: PublicPageFixture;
let ada: PublicPageFixture["ada"];
let fixture: PublicPageFixture["fixture"];
beforeAll(async () => {
  pageFixture = await openPublicPageFixture();
  ({ fixture, ada } = pageFixture);
});
afterAll(() => pageFixture[Symbol.asyncDispose]());
beforeEach(() => fixture.upstream.reset());

describe("the card", () => {
  test("shows the agent's name and status, and nothing private", async () => {
    const agent = await pageFixture.createAgent(
      { instructions: "The password is tiger.", timezone: "Europe/Oslo" },
      "Fox & Sons",
    );
    const { status, text: html, headers, setCookie } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`);
    const text = html.replace(/<style>.*<\/style>/s, "");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html;charset=utf-8");
    expect(text).toContain("Fox &amp; Sons");
    expect(text).toContain("Online");
    expect(text).toContain("Made with Berth");
    expect(text).not.toMatch(/tiger|Oslo|model|<script|<form|Verified/i);
    expect(text).not.toContain(agent.id);
    expect(text).not.toContain(ada.userId);
    expect(text).not.toContain(ada.account.email);
    expect(text).toContain('name="robots" content="noindex"');
    expect(setCookie).toBeUndefined();
  });

  test("is JSON for programs", async () => {
    const agent = await pageFixture.createOpenAgent({}, { greeting: "Ahoy" });
    const { body, headers } = await pageFixture
      .visitor()
      .getPage(`/a/${agent.subdomain}`, { accept: "application/json" });
    expect(headers.get("vary")).toContain("accept");
    expect(body).toEqual({
      name: "Harbour",
      status: "online",
      verified: false,
      verificationType: null,
      chat: true,
      greeting: "Ahoy",
      url: `https://${agent.subdomain}.${DOMAIN}`,
    });
  });

  test("shows the status in words", async () => {
    const agent = await pageFixture.createAgent();
    await fixture.agents.setStatus(agent.id, "stopped");
    expect((await pageFixture.visitor().getPage(`/a/${agent.subdomain}`)).text).toContain("Asleep");
    await fixture.agents.setStatus(agent.id, "error", { reason: "secret reason" });
    const { text } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`);
    expect(text).toContain("Not well right now");
    expect(text).not.toContain("secret reason");
  });

  test("speaks the visitor's language, and leaves the owner's text as it is", async () => {
    const agent = await pageFixture.createOpenAgent({}, { greeting: "Ahoy" });
    const { text, headers } = await pageFixture
      .visitor()
      .getPage(`/a/${agent.subdomain}`, { accept: "text/html", "accept-language": "de-DE,en;q=0.5" });
    expect(text).toContain('<html lang="de">');
    expect(text).toContain("Mit Berth gemacht");
    expect(text).toContain('"AGENT_STOPPED":"Dieser Agent schläft.');
    expect(text).toContain('<div class="first plain" dir="auto" lang="">Ahoy</div>');
    expect(text).not.toMatch(/Start over|Conversation|Write a message|Send<|\[\[/);
    expect(headers.get("vary")).toContain("accept-language");
    const unknown = await pageFixture
      .visitor()
      .getPage("/a/nobody-abcdef", { accept: "text/html", "accept-language": "de" });
    expect(unknown.text).toContain("Hier ist niemand");
  });

  test("shows a badge with the method if the agent is verified", async () => {
    const agent = await pageFixture.createAgent();
    const sql =
      "UPDATE agents SET verified = 1, verification_type = 'webauthn', attestation_uid = 'secret' WHERE id = ?";
    await fixture.kernel.database.write([{ sql, args: [agent.id] }]);
    await fixture.agents.setStatus(agent.id, "active");
    const { text } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`);
    expect(text).toContain("✓ Verified · security key");
    expect(text).not.toContain("secret");
    const { body } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`, { accept: "application/json" });
    expect(body).toMatchObject({ verified: true, verificationType: "webauthn" });
  });

  test.each([
    "<script>alert(1)</script>",
    `"><img src=x onerror=alert(1)>`,
    "'-alert(1)-'",
    "</title><b>x",
    "{{main}}$&$`$1",
    "\u202eelttil a",
  ])("shows the name %j as text only", async (name) => {
    const agent = await pageFixture.createAgent({}, name);
    await ada.put(`/api/agents/${agent.id}/public`, { enabled: true, greeting: `${name} greets` });
    const { text } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`);
    const shown: string[] = [];
    let scripts = 0;
    await new HTMLRewriter()
      .on("script", { element: () => void scripts++ })
      .on("img, b", { element: () => void shown.push("an element") })
      .transform(new Response(text))
      .text();
    expect(shown).toEqual([]);
    // The page's own, and the reader of Markdown.
    expect(scripts).toBe(2);
    const escaped = Bun.escapeHTML(name).replaceAll("&#x27;", "&#39;");
    expect(text).toContain(`<title>${escaped} · Berth</title>`);
    expect(text).toContain(`<bdi>${escaped}</bdi>`);
    expect(text).toContain(`${escaped} greets`);
  });

  test("allows its own scripts and no others, and requests to this agent only", async () => {
    const agent = await pageFixture.createOpenAgent();
    const { headers, text } = await pageFixture.visitor().getPage(`/a/${agent.subdomain}`);
    const policy = headers.get("content-security-policy") ?? "";
    const [script = ""] = [...text.matchAll(/<script>(.*?)<\/script>/gs)].map(([, source]) => source);
    const hash = new Bun.CryptoHasher("sha256").update(script).digest("base64");
    const markdownFile = `/a/${agent.subdomain}/markdown.js`;
    expect(policy).toContain(`script-src 'sha256-${hash}' ${OWN}${markdownFile};`);
    expect(policy).toContain(`connect-src ${OWN}/a/${agent.subdomain}/messages;`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http:/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    const addresses = [...text.matchAll(/(?:src|href|action)="(?!data:)([^"?]*)/g)].map(([, address]) => address);
    expect(addresses).toEqual([markdownFile]);
    const file = await pageFixture.visitor().getPage(markdownFile);
    expect(file.headers.get("content-type")).toStartWith("text/javascript");
    expect(file.headers.get("cache-control")).toContain("immutable");
    expect(file.text).toContain("lexer");
    expect(file.setCookie).toBeUndefined();
    const closedPage = await pageFixture.visitor().getPage(`/a/${(await pageFixture.createAgent()).subdomain}`);
    expect(closedPage.headers.get("content-security-policy")).not.toMatch(/script-src|connect-src/);
  });

  test("of an unknown agent is a 404 page for people and an error for programs", async () => {
    for (const path of ["/a/nobody-abcdef", "/a/%3Cscript%3E", "/a/'%20OR%201=1", `/a/${"x".repeat(300)}`, "/a/%00"]) {
      const page = await pageFixture.visitor().getPage(path);
      expect({ path, status: page.status }).toEqual({ path, status: 404 });
      expect(page.headers.get("content-type")).toStartWith("text/html");
      expect(page.text).toContain("Nobody is here");
      expect(page.text).not.toContain("<script");
      expectRefusal(await pageFixture.visitor().getPage(path, { accept: "application/json" }), 404, "AGENT_NOT_FOUND");
    }
    const gone = await pageFixture.createOpenAgent();
    await fixture.agents.remove(gone.id);
    expect((await pageFixture.visitor().getPage(`/a/${gone.subdomain}`)).status).toBe(404);
    expectRefusal(await pageFixture.visitor().sendMessage(gone, "Hello"), 404, "AGENT_NOT_FOUND");
  });
});

describe("the owner's switch", () => {
  test("is off by default, keeps the greeting, and turns the chat on and off", async () => {
    const agent = await pageFixture.createAgent();
    const path = `/api/agents/${agent.id}/public`;
    const url = `https://${agent.subdomain}.${DOMAIN}`;
    expect((await ada.get(path)).body).toEqual({ enabled: false, greeting: "", embedOrigins: [], url });
    expectRefusal(await pageFixture.visitor().sendMessage(agent, "Hello"), 403, "CHAT_OFF");
    expect((await ada.put(path, { enabled: true, greeting: " Ahoy " })).body).toEqual({
      enabled: true,
      greeting: "Ahoy",
      embedOrigins: [],
      url,
    });
    expect((await pageFixture.visitor().sendMessage(agent, "Hello")).body).toEqual({
      reply: "echo: Hello",
      timestamp: expect.any(Number),
    });
    expect((await ada.put(path, { enabled: false })).body).toEqual({
      enabled: false,
      greeting: "Ahoy",
      embedOrigins: [],
      url,
    });
    expectRefusal(await pageFixture.visitor().sendMessage(agent, "Hello"), 403, "CHAT_OFF");
    expect((await pageFixture.visitor().getPage(`/a/${agent.subdomain}`)).text).not.toMatch(/Ahoy|<form/);
    expect((await ada.get(path)).body).toMatchObject({ enabled: false });
  });

  test("accepts only its owner and valid settings", async () => {
    const { id } = await pageFixture.createAgent();
    const eve = await fixture.member();
    const path = `/api/agents/${id}/public`;
    for (const route of [() => eve.get(path), () => eve.put(path, { enabled: true })]) {
      expectRefusal(await route(), 404, "AGENT_NOT_FOUND");
    }
    expectRefusal(await fetchText(path), 401);
    for (const body of [
      {},
      { enabled: "yes" },
      { enabled: true, greeting: "x".repeat(501) },
      { enabled: true, greeting: 7 },
    ]) {
      expectRefusal(await ada.put(path, body), 400, "INVALID_INPUT");
    }
    expect((await ada.get(path)).body).toMatchObject({ enabled: false, greeting: "" });
  });

  test("has no effect while the owner's account is disabled", async () => {
    const guest = await fixture.member();
    const id = await fixture.provision(guest);
    await guest.put(`/api/agents/${id}/public`, { enabled: true });
    const { body } = await guest.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
    const agent = { id, subdomain: body.agent.subdomain };
    expect((await pageFixture.visitor().sendMessage(agent, "Hello")).status).toBe(200);
    const noStatement = () => ({ sql: "SELECT 1", args: [] });
    const { administration } = fixture.app.accounts;
    await administration.update(guest.userId, { disabled: true }, noStatement, { keepAnAdmin: false });
    expectRefusal(await pageFixture.visitor().sendMessage(agent, "Hello"), 403, "CHAT_OFF");
  });

  const fetchText = async (path: string) => {
    const response = await fetch(fixture.origin + path);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text };
  };
});
