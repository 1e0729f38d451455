// The German texts of the page that asks whether an app may be connected.
import type { Translation } from "../../src/kernel/pages/page-template.ts";

export const german: Translation = {
  texts: {
    'Afterwards you return to <b id="host"></b>. You are signed in as <b id="account"></b>, and can end this under Account.':
      'Danach geht es zurück zu: <b id="host"></b>. Du bist als <b id="account"></b> angemeldet und kannst das unter „Konto“ beenden.',
    "Allow one thing at least.": "Erlaube mindestens eines davon.",
    "an app on this computer": "einer App auf diesem Rechner",
    "Back to your app": "Zurück zu deiner App",
    Connect: "Verbinden",
    'Connect <span id="app"></span>?': '<span id="app"></span> verbinden?',
    "Connect an app": "Eine App verbinden",
    "Create one": "Leg eins an",
    'It comes from <b id="verified-host"></b>.': 'Sie kommt von <b id="verified-host"></b>.',
    "It costs like your own messages.": "Das kostet so viel wie deine eigenen Nachrichten.",
    "No account yet?": "Noch kein Konto?",
    "No, go back": "Nein, zurück",
    "Nobody vouches for its name. Go on only if you have just started this yourself.":
      "Niemand bürgt für ihren Namen. Mach nur weiter, wenn du das gerade selbst begonnen hast.",
    "Otherwise your agents ask you before they act on it. Leave this off if the app also reads websites or mails.":
      "Sonst fragen dich deine Agenten, bevor sie danach handeln. Lass es aus, wenn die App auch Webseiten oder Mails liest.",
    "Read your conversations": "Deine Unterhaltungen lesen",
    "Sign in to decide what the app may do. You return to this page afterwards.":
      "Melde dich an, um zu entscheiden, was die App darf. Danach kommst du hierher zurück.",
    "Talk to them": "Mit ihnen reden",
    "Teach them facts and plan work": "Ihnen etwas beibringen und Aufgaben planen",
    "The app has sent you here with a link that does not work. Start again from the app.":
      "Die App hat dich mit einem Link hergeschickt, der nicht funktioniert. Fang in der App noch einmal an.",
    "This can't be connected": "Das lässt sich nicht verbinden",
    "Those with other people, too.": "Auch die mit anderen Leuten.",
    "Treat what it writes as my own words": "Was sie schreibt, zählt als von mir",
    "What it may do with all your agents": "Was sie mit all deinen Agenten darf",
    "Whose words are these?": "Wessen Worte sind das?",
    "You can close this page.": "Du kannst diese Seite schließen.",
    "You see both on the agent's pages.": "Beides siehst du auf den Seiten des Agenten.",
  },
};
