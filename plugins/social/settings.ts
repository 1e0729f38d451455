// The settings of social identity: whose tokens are accepted, and for which audience.

import { anyText, httpUrl } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { baseUrlHost, withDefault } from "../../src/kernel/config/variable.ts";

export const socialSettings = defineSettings({
  name: "social",
  variables: {
    SOCIAL_ISSUER: withDefault(
      httpUrl,
      "https://auth.farcaster.xyz",
      "Issuer of social-identity tokens; its keys are at `/.well-known/jwks.json`.",
    ),
    SOCIAL_AUDIENCE: withDefault(anyText, baseUrlHost, "Audience those tokens must name."),
  },
  build: (v) => ({ issuer: v.SOCIAL_ISSUER, audience: v.SOCIAL_AUDIENCE }),
});
