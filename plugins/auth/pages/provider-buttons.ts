// Draws the buttons that lead to the sign-in of other providers.
import type { Config } from "../../../src/kernel/config/config.ts";
import { escapeHtml } from "../../../src/kernel/pages/html.ts";
import type { Language } from "../../../src/kernel/pages/language.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import { configuredProviders } from "../oauth/configured-providers.ts";
import type { ProviderIdentity } from "../oauth/provider.ts";

/** The providers' own marks, in one colour; a key for a provider of the operator's. */
const MARKS: Readonly<Record<ProviderIdentity["provider"], string>> = {
  google:
    "M12.48 10.92v3.28h7.84c-.24 1.84-.853 3.187-1.787 4.133-1.147 1.147-2.933 2.4-6.053 2.4-4.827 0-8.6-3.893-8.6-8.72s3.773-8.72 8.6-8.72c2.6 0 4.507 1.027 5.907 2.347l2.307-2.307C18.747 1.44 16.133 0 12.48 0 5.867 0 .307 5.387.307 12s5.56 12 12.173 12c3.573 0 6.267-1.173 8.373-3.36 2.16-2.16 2.84-5.213 2.84-7.667 0-.76-.053-1.467-.173-2.053H12.48z",
  github:
    "M12 .3a12 12 0 0 0-3.8 23.4c.6.1.8-.3.8-.6v-2c-3.3.7-4-1.6-4-1.6-.6-1.4-1.4-1.8-1.4-1.8-1-.7.1-.7.1-.7 1.2 0 1.9 1.2 1.9 1.2 1 1.8 2.8 1.3 3.5 1 0-.8.4-1.3.7-1.6-2.7-.3-5.5-1.3-5.5-6 0-1.2.5-2.3 1.3-3.1-.2-.4-.6-1.6 0-3.2 0 0 1-.3 3.4 1.2a11.5 11.5 0 0 1 6 0c2.3-1.5 3.3-1.2 3.3-1.2.6 1.6.2 2.8 0 3.2.9.8 1.3 1.9 1.3 3.2 0 4.6-2.8 5.6-5.5 5.9.5.4.9 1 .9 2.2v3.3c0 .3.1.7.8.6A12 12 0 0 0 12 .3",
  oidc: "M15 1a8 8 0 0 0-7.7 10.2L1 17.5V23h5.5v-3H9v-2.5h2.5l1.3-1.8A8 8 0 1 0 15 1Zm2.5 8a2 2 0 1 1 0-4 2 2 0 0 1 0 4Z",
};

/** A link for each configured provider; empty if there is none. */
export function providerButtons(config: Pick<Config, "of">, language: Language): string {
  const links = configuredProviders(config).map(
    ({ kind, id, name }) =>
      `<a class="button other keep" data-provider="${id}" href="/api/auth/oauth/${id}"><svg viewBox="0 0 24 24" aria-hidden="true">` +
      `<path d="${MARKS[kind]}"/></svg>${escapeHtml(translateText("Continue with {name}", language, { name }))}</a>\n`,
  );
  return links.join("");
}
