// Says why a provider could not be linked, by the code with which it sent the browser back.

import { t } from "../../../viewer/language.ts";

export function linkFailure(code: string): string {
  const texts: Readonly<Record<string, string>> = {
    ACCESS_DENIED: t("You did not let the provider tell Berth who you are. Nothing was linked."),
    ALREADY_LINKED: t("This sign-in belongs to another account here. Remove it there first."),
    PROVIDER_MISCONFIGURED: t(
      "The provider does not accept this Berth: its client id or secret is wrong. Tell its operator.",
    ),
    PROVIDER_UNAVAILABLE: t("The provider can't be reached right now. Try again in a moment."),
    RATE_LIMITED: t("Too many attempts from your network. Try again later."),
    SIGN_IN_AGAIN: t("You were signed out in the meantime. Try again."),
    SIGN_IN_FAILED: t("The provider's answer does not prove who you are. Try again."),
    STATE_INVALID: t("This took too long, or was started in another browser. Try again."),
    TOO_MANY_SIGN_INS: t("Your account has as many sign-ins as it can have. Remove one first."),
  };
  return (Object.hasOwn(texts, code) && texts[code]) || t("That did not work. Try again.");
}
