// The German texts of the public page's templates.
import type { Translation } from "../../src/kernel/pages/page-template.ts";

export const german: Translation = {
  texts: {
    Conversation: "Gespräch",
    "Made with Berth": "Mit Berth gemacht",
    Send: "Senden",
    "Try again": "Noch einmal versuchen",
    "The agent could not be reached.": "Der Agent ist nicht erreichbar.",
    "This is taking longer than usual; the reply appears here when it is ready.":
      "Das dauert länger als sonst; die Antwort erscheint hier, sobald sie fertig ist.",
    "To talk here, this page needs JavaScript.": "Zum Reden braucht diese Seite JavaScript.",
    "Write a message": "Schreib eine Nachricht",
    "Your message": "Deine Nachricht",
  },
  errors: {
    AGENT_BUSY: "Der Agent spricht gerade mit vielen Leuten. Versuch es gleich noch einmal.",
    AGENT_CHANGING: "Der Agent wird gerade geändert. Deine Nachricht wird danach beantwortet.",
    AGENT_NOT_FOUND: "Unter dieser Adresse gibt es keinen Agenten mehr.",
    AGENT_STOPPED: "Dieser Agent schläft. Komm später wieder.",
    ALREADY_SETTLED: "Diese Nachricht wurde schon beantwortet.",
    BACKEND_UNAVAILABLE: "Der Dienst ist gerade nicht erreichbar. Versuch es gleich noch einmal.",
    BUDGET_EXCEEDED: "Dieser Agent kann vorerst nicht mehr antworten. Komm später wieder.",
    CANCELLED: "Die Antwort wurde abgebrochen.",
    CHAT_OFF: "Dieser Agent spricht hier nicht mit Besuchern.",
    INTERNAL: "Bei uns ist etwas schiefgegangen. Versuch es später noch einmal.",
    MODEL_UNAVAILABLE: "Der Agent kann gerade nicht antworten. Versuch es gleich noch einmal.",
    PARKED: "Diese Nachricht konnte auch nach mehreren Versuchen nicht beantwortet werden.",
    RATE_LIMITED: "Zu viele Nachrichten. Warte eine Weile, und versuch es dann noch einmal.",
    STOPPING: "Der Dienst startet neu. Deine Nachricht wird danach beantwortet.",
  },
};
