// The German texts of the claim page.
import type { Translation } from "../../src/kernel/pages/page-template.ts";

export const german: Translation = {
  texts: {
    '<b id="name"></b> is in your account now.': '<b id="name"></b> gehört jetzt zu deinem Konto.',
    "Claim an agent": "Agenten übernehmen",
    "Claim your agent": "Deinen Agenten übernehmen",
    "Create one": "Leg eins an",
    "It is yours": "Er gehört dir",
    "Make it mine": "Übernehmen",
    "Open it": "Öffnen",
    "No account yet?": "Noch kein Konto?",
    "Open the whole link: its token is missing here.": "Öffne den ganzen Link: Hier fehlt sein Schlüssel.",
    "Sign in to claim the agent. You return to this page afterwards.":
      "Melde dich an, um den Agenten zu übernehmen. Danach kommst du hierher zurück.",
    "The agent moves to your account and follows your plan. Its owners on the channels stay the same.":
      "Der Agent kommt in dein Konto und folgt deinem Tarif. Seine Besitzer in den Kanälen bleiben dieselben.",
  },
};
